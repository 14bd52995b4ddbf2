'use client';
import { useRouter } from 'next/navigation';
import { type ReactNode, useEffect, useState } from 'react';
import type { Setup } from '../../../contract/setup';
import type { TroubledWebhooks } from '../../../contract/webhook-states';
import { watchAttendance } from '../attendance';
import { IconButton } from '../components/button';
import { CutText } from '../components/cut-text';
import { Sheet } from '../components/dialog';
import { MenuIcon } from '../components/icons';
import { mayLeave, watchTraversals } from '../components/leave-question';
import { ShortcutsProvider, useShortcuts } from '../components/shortcuts';
import { SignedOutNotice } from '../components/signed-out-notice';
import { watchTyping } from '../typed-text';
import { IntegrationSwitcher, type ListedIntegration } from './integration-switcher';
import { PaletteProvider, SearchButton, SearchIconButton } from './palette/palette-opener';
import { NAVIGATION, Rail } from './rail';
import { StaffMenu } from './staff-menu';
import { useStaffWatch } from './staff-watch';

interface ShellProps {
  integration: ListedIntegration;
  integrations: ListedIntegration[];
  troubled: TroubledWebhooks | undefined;
  /** How far the integration is set up; null if that was dismissed. */
  setup: Setup | null;
  /** Whether shortcuts of one character are on. */
  areLettersOn: boolean;
  children: ReactNode;
}

/** The page with its navigation: a rail, or a bar with a menu on a narrow screen. */
export function Shell({ integration, integrations, troubled, setup, areLettersOn, children }: ShellProps) {
  const [isMenuOpen, setMenuOpen] = useState(false);
  useStaffWatch();
  useEffect(watchAttendance, []);
  useEffect(watchTyping, []);
  useEffect(watchTraversals, []);
  const base = `/dashboard/${encodeURIComponent(integration.id)}`;
  const rail = (
    <div className="flex h-full flex-col gap-3">
      <IntegrationSwitcher current={integration} integrations={integrations} />
      <SearchButton onOpen={() => setMenuOpen(false)} />
      <Rail base={base} troubled={troubled} setup={setup} onNavigate={() => setMenuOpen(false)} />
      <div className="mt-auto">
        <StaffMenu />
      </div>
    </div>
  );
  return (
    <ShortcutsProvider areLettersOn={areLettersOn}>
      <Navigation base={base} />
      <PaletteProvider base={base}>
        <a
          href="#content"
          className="sr-only print:hidden z-50 rounded bg-accent px-3 py-2 text-on-accent focus:not-sr-only focus:fixed focus:top-2 focus:left-2"
        >
          Skip to content
        </a>
        <div className="lg:grid lg:min-h-dvh lg:grid-cols-[13rem_minmax(0,1fr)] print:block!">
          <div className="border-line border-r bg-surface max-lg:hidden print:hidden">
            <div className="sticky top-0 h-dvh p-3">{rail}</div>
          </div>
          <div className="flex h-12 items-center gap-2 border-line border-b bg-surface px-2 lg:hidden print:hidden">
            <IconButton label="Menu" onClick={() => setMenuOpen(true)}>
              <MenuIcon size={18} aria-hidden />
            </IconButton>
            <CutText text={integration.name} className="min-w-0 font-semibold" />
            <SearchIconButton />
          </div>
          <Sheet side="left" title="Menu" isOpen={isMenuOpen} onClose={() => setMenuOpen(false)}>
            <div className="h-[calc(100%-3rem)]">{rail}</div>
          </Sheet>
          <main
            id="content"
            tabIndex={-1}
            className="mx-auto w-full min-w-0 max-w-[1440px] px-4 py-5 outline-none lg:px-6 print:max-w-none print:p-0"
          >
            <div className="sticky top-2 z-30 print:hidden">
              <SignedOutNotice />
            </div>
            {children}
          </main>
        </div>
      </PaletteProvider>
    </ShortcutsProvider>
  );
}

/** Adds the shortcuts `g` + letter, which open a page from anywhere. */
function Navigation({ base }: { base: string }) {
  const router = useRouter();
  useShortcuts(
    'Go to',
    NAVIGATION.map(({ path, name, key }) => ({
      ...{ keys: `g ${key}`, name },
      run: () => {
        if (mayLeave()) router.push(`${base}/${path}`);
      },
    })),
  );
  return null;
}
