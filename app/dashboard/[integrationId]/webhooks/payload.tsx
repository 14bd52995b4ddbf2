import { CopyButton } from '../../components/copying';
import { Code } from '../../components/states';

/** A payload, formatted for reading. Copying gives the text as it is sent. */
export function Payload({ title, text }: { title: string; text: string }) {
  return (
    <section aria-label={title} className="space-y-2">
      <div className="flex items-center justify-between gap-2">
        <h3 className="font-medium text-muted text-xs">{title}</h3>
        <CopyButton text={text} />
      </div>
      <Code>{layOut(text)}</Code>
    </section>
  );
}

/** Formats JSON over several lines; leaves other text as it is. */
function layOut(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
