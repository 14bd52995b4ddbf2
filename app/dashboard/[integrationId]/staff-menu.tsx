'use client';
import { LogOut, Monitor, Moon, Sun } from 'lucide-react';
import { useState } from 'react';
import { joinClasses } from '../components/classes';
import { MENU_ITEM, Menu } from '../components/menu';
import { ShortcutsButton } from '../components/shortcuts';
import { setTheme } from '../set-theme';
import { useStaff } from '../staff';
import type { Theme } from '../theme';

const CHOICES = [
  { theme: 'system', name: 'System', icon: Monitor },
  { theme: 'light', name: 'Light', icon: Sun },
  { theme: 'dark', name: 'Dark', icon: Moon },
] as const;

async function signOut() {
  await fetch('/api/auth/sign-out', { method: 'POST' });
  window.location.assign('/sign-in');
}

/** The signed-in person with their role, the theme, and sign-out. */
export function StaffMenu({ theme }: { theme: Theme }) {
  const { staff } = useStaff();
  return (
    <div className="flex items-center justify-between gap-1">
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
              {staff.name.slice(0, 2)}
            </span>
            <span className="min-w-0 leading-4">
              <span className="block max-w-28 truncate">{staff.name}</span>
              <span className="block text-faint text-xs">{staff.role}</span>
            </span>
          </>
        }
      >
        <p className="truncate px-2 py-1 text-muted text-xs">{staff.email}</p>
        <ThemeChoice theme={theme} />
        <button type="button" className={MENU_ITEM} onClick={signOut}>
          <LogOut size={14} aria-hidden />
          Sign out
        </button>
      </Menu>
      <ShortcutsButton />
    </div>
  );
}

function ThemeChoice({ theme }: { theme: Theme }) {
  const [chosen, choose] = useState<Theme>(theme);
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
            // Takes effect at once; the cookie sets the theme of later page loads.
            document.documentElement.dataset.theme = choice;
            choose(choice);
            void setTheme(choice);
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
