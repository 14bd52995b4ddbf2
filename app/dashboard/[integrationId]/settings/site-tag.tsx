'use client';
import { useState } from 'react';
import type { Site } from '../../../../contract/sites';
import { CopyButton } from '../../components/copying';
import { Field, Select } from '../../components/field';
import { Code } from '../../components/states';

/** What the tags of all sites have in common. */
export interface PixelTag {
  src: string;
  integrity: string;
}

const writeTag = ({ src, integrity }: PixelTag, siteKey: string) =>
  `<script async src="${src}"
  data-site="${siteKey}"
  integrity="${integrity}"
  crossorigin="anonymous"></script>`;

/** The tag of a site, to copy into its pages. */
export function SiteTag({ sites, tag }: { sites: Site[]; tag: PixelTag }) {
  const [chosen, choose] = useState<string | null>(null);
  const site = sites.find(({ id }) => id === chosen) ?? sites[0];
  if (!site) return null;
  const text = writeTag(tag, site.siteKey);
  const { origin } = new URL(tag.src);
  return (
    <div className="space-y-3">
      <div className="flex flex-wrap items-end justify-between gap-2">
        <Field label="Site">
          <Select className="w-56" value={site.id} onChange={({ target }) => choose(target.value)}>
            {sites.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </Select>
        </Field>
        <CopyButton text={text}>Copy tag</CopyButton>
      </div>
      <Code>{text}</Code>
      <p className="text-muted">
        Put it into the head of every page. A Content-Security-Policy needs{' '}
        <code className="font-mono text-xs">{origin}</code> in <code className="font-mono text-xs">script-src</code> and{' '}
        <code className="font-mono text-xs">connect-src</code>.
      </p>
    </div>
  );
}
