'use client';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { joinClasses } from '../components/classes';
import { CutText } from '../components/cut-text';
import { KeyRound, LogOut, Monitor, Moon, Sun } from '../components/icons';
import { MENU_ITEM, Menu } from '../components/menu';
import { LetterKeysSwitch, ShortcutsButton } from '../components/shortcuts';
import { useTimeZone } from '../components/time';
import { useToast } from '../components/toast';
import { tellOtherTabs } from '../other-tabs';
import { postForm } from '../post-form';
import { savePreference } from '../preference';
import { isOtherAccount } from '../query-client';
import { findInitials, useStaff } from '../staff';
import { readTheme, THEME_COOKIE } from '../theme';
import { nameZone, TIME_ZONE_COOKIE, UTC } from '../time-zone';
import { ChangePassword } from './change-password';
import { forgetUnsaved } from './sessions/unsaved-verdicts';

const CHOICES = [
  { theme: 'system', name: 'System', icon: Monitor },
  { theme: 'light', name: 'Light', icon: Sun },
  { theme: 'dark', name: 'Dark', icon: Moon },
] as const;

/** The signed-in person with their role, the theme, the keys, the password, and sign-out. */
export function StaffMenu() {
  const { staff } = useStaff();
  const { timeZone } = useTimeZone();
  const [isChanging, setChanging] = useState(false);
  const toast = useToast();
  // Leaves only when the server has ended the session: on a shared machine somebody would otherwise believe that it has.
  const leaving = useMutation({
    mutationFn: () => postForm('/api/auth/sign-out', {}, staff.id),
    meta: { mayRepeat: true },
    onSuccess() {
      forgetUnsaved(window.sessionStorage, staff.id);
      tellOtherTabs();
      window.location.assign('/sign-in');
    },
  });
  // The menu of a narrow screen may be closed by then, so this is no callback of `mutate`.
  const leave = () =>
    leaving.mutateAsync().catch((error) => {
      if (!isOtherAccount(error))
        toast({ text: 'You are still signed in: the server could not be reached.', isError: true });
    });
  return (
    <div className="flex flex-wrap items-center justify-between gap-1">
      <Menu
        label="account"
        place="above"
        buttonClassName="flex min-w-0 items-center gap-2 rounded p-1 pr-2 text-left hover:bg-sunken"
        button={
          <>
            <span
              className="flex size-7 shrink-0 items-center justify-center rounded bg-accent-soft font-semibold text-accent text-xs uppercase"
              aria-hidden
            >
              {findInitials(staff.name)}
            </span>
            <span className="min-w-0 leading-4">
              <CutText text={staff.name} className="max-w-28" />
              <span className="block text-faint text-xs">{staff.role}</span>
            </span>
          </>
        }
      >
        <CutText text={staff.email} className="px-2 py-1 text-muted text-xs" />
        <ThemeChoice />
        <TimeZoneChoice />
        <div className="border-line border-b px-2 pt-1 pb-2">
          <LetterKeysSwitch />
        </div>
        <button type="button" className={joinClasses(MENU_ITEM, 'mt-1')} onClick={() => setChanging(true)}>
          <KeyRound size={14} aria-hidden />
          Change password
        </button>
        <button type="button" className={MENU_ITEM} onClick={leave}>
          <LogOut size={14} aria-hidden />
          Sign out
        </button>
      </Menu>
      <ShortcutsButton />
      <p className="w-full truncate px-1 text-faint text-xs">Times in {nameZone(timeZone)}</p>
      <ChangePassword isOpen={isChanging} onClose={() => setChanging(false)} />
    </div>
  );
}

function ThemeChoice() {
  // The menu opens after a click, so this never runs on the server, which knows only the theme that the page was loaded with.
  const [chosen, choose] = useState(() => readTheme(document.documentElement.dataset.theme));
  return (
    <fieldset className="my-1 flex gap-px border-line border-y py-1">
      <legend className="sr-only">Theme</legend>
      {CHOICES.map(({ theme: choice, name, icon: Icon }) => (
        <button
          key={choice}
          type="button"
          data-stay
          aria-pressed={choice === chosen}
          onClick={() => {
            document.documentElement.dataset.theme = choice;
            choose(choice);
            savePreference(THEME_COOKIE, choice);
          }}
          className={joinClasses(
            'flex flex-1 items-center justify-center gap-1 rounded px-2 py-1 text-xs hover:bg-sunken',
            choice === chosen ? 'bg-sunken font-medium text-ink' : 'text-muted',
          )}
        >
          <Icon size={14} aria-hidden />
          {name}
        </button>
      ))}
    </fieldset>
  );
}

/** The zone of all times: UTC, or that of this computer. */
function TimeZoneChoice() {
  const { timeZone, setTimeZone } = useTimeZone();
  // The menu opens after a click, so this never runs on the server.
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const zones = [...new Set([UTC, own, timeZone])];
  return (
    <fieldset className="mb-1 flex flex-wrap gap-px border-line border-b pb-1">
      <legend className="px-2 py-1 text-muted text-xs">Times are shown in</legend>
      {zones.map((zone) => (
        <button
          key={zone}
          type="button"
          data-stay
          aria-pressed={zone === timeZone}
          onClick={() => {
            setTimeZone(zone);
            savePreference(TIME_ZONE_COOKIE, zone);
          }}
          className={joinClasses(
            'flex-1 rounded px-2 py-1 text-xs hover:bg-sunken',
            zone === timeZone ? 'bg-sunken font-medium text-ink' : 'text-muted',
          )}
        >
          {nameZone(zone)}
        </button>
      ))}
    </fieldset>
  );
}
