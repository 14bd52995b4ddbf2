'use client';
import { useQuery } from '@tanstack/react-query';
import { usePathname } from 'next/navigation';
import type { Setup } from '../../../contract/setup';
import type { TroubledWebhooks } from '../../../contract/webhook-states';
import { joinClasses } from '../components/classes';
import { HoverLink } from '../components/hover-link';
import {
  BellRing,
  BookOpen,
  FileText,
  Gauge,
  Gavel,
  LayoutDashboard,
  Library,
  ListChecks,
  MousePointerClick,
  SettingsIcon,
  TriangleAlert,
  UsersIcon,
  WebhookIcon,
} from '../components/icons';
import { useTRPC } from '../queries';
import { useSetup } from './setup/use-setup';

/** The pages of an integration, each with the letter that opens it after `g`. */
export const NAVIGATION = [
  { path: 'setup', name: 'Set-up', key: 'p', icon: ListChecks },
  { path: 'overview', name: 'Overview', key: 'o', icon: LayoutDashboard },
  { path: 'review', name: 'Review', key: 'v', icon: Gavel },
  { path: 'sessions', name: 'Sessions', key: 's', icon: MousePointerClick },
  { path: 'users', name: 'Users', key: 'u', icon: UsersIcon },
  { path: 'courses', name: 'Courses', key: 'c', icon: BookOpen },
  { path: 'webhooks', name: 'Webhooks', key: 'w', icon: WebhookIcon },
  { path: 'anomalies', name: 'Anomalies', key: 'a', icon: TriangleAlert },
  { path: 'alerts', name: 'Alerts', key: 'l', icon: BellRing },
  { path: 'reports', name: 'Reports', key: 'r', icon: FileText },
  { path: 'usage', name: 'Usage', key: 'm', icon: Gauge },
  { path: 'settings', name: 'Settings', key: 't', icon: SettingsIcon },
  { path: 'documents', name: 'Documents', key: 'd', icon: Library },
];

interface RailProps {
  base: string;
  /** As the server counted them for the first content. */
  troubled: TroubledWebhooks | undefined;
  /** Null if the set-up was dismissed. */
  setup: Setup | null;
  onNavigate(): void;
}

/** Links to the pages under `base`. The set-up is among them until it is done or dismissed. */
export function Rail({ base, troubled, setup, onNavigate }: RailProps) {
  const pathname = usePathname();
  const { data } = useSetup({ initial: setup ?? undefined, isOff: setup === null });
  const isSetupShown = setup !== null && data?.isComplete === false;
  return (
    // In a low window it scrolls: the sheet of a narrow one does so itself. The room is for the outline of the focus.
    <nav aria-label="Pages" className="flex flex-col gap-px lg:-m-1 lg:min-h-0 lg:overflow-y-auto lg:p-1">
      {NAVIGATION.filter(({ path }) => path !== 'setup' || isSetupShown).map(({ path, name, icon: Icon }) => {
        const isCurrent = pathname.startsWith(`${base}/${path}`);
        return (
          <HoverLink
            key={path}
            href={`${base}/${path}`}
            onClick={onNavigate}
            aria-current={isCurrent ? 'page' : undefined}
            className={joinClasses(
              'flex h-8 shrink-0 items-center gap-2 rounded px-2',
              isCurrent ? 'bg-sunken font-medium text-ink' : 'text-muted hover:bg-sunken hover:text-ink',
            )}
          >
            <Icon size={16} aria-hidden />
            {name}
            {path === 'webhooks' && <TroubleBadge initial={troubled} />}
          </HoverLink>
        );
      })}
    </nav>
  );
}

const REFRESH_MS = 60_000;

/** How many webhooks are failing or were disabled by failures. Shows nothing if there are none. */
function TroubleBadge({ initial }: { initial: TroubledWebhooks | undefined }) {
  const options = { initialData: initial, refetchInterval: REFRESH_MS };
  const { data } = useQuery(useTRPC().webhookStates.count.queryOptions(undefined, options));
  const { failing = 0, disabled = 0 } = data ?? {};
  if (failing + disabled === 0) return null;
  const words = [disabled > 0 && `${disabled} disabled by failures`, failing > 0 && `${failing} failing`];
  const label = words.filter(Boolean).join(', ');
  return (
    <span
      title={label}
      className={joinClasses(
        'ml-auto min-w-5 rounded px-1 text-center font-medium text-xs leading-5',
        disabled > 0 ? 'bg-danger-soft text-danger' : 'bg-medium-soft text-medium',
      )}
    >
      <span aria-hidden>{failing + disabled}</span>
      <span className="sr-only">, {label}</span>
    </span>
  );
}
