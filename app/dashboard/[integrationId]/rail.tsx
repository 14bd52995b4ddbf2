'use client';
import {
  BellRing,
  BookOpen,
  FileText,
  Gauge,
  LayoutDashboard,
  MousePointerClick,
  Settings,
  TriangleAlert,
  Users,
  Webhook,
} from 'lucide-react';
import { usePathname } from 'next/navigation';
import { joinClasses } from '../components/classes';
import { HoverLink } from '../components/hover-link';

/** The pages of an integration, each with the letter that opens it after `g`. */
export const NAVIGATION = [
  { path: 'overview', name: 'Overview', key: 'o', icon: LayoutDashboard },
  { path: 'sessions', name: 'Sessions', key: 's', icon: MousePointerClick },
  { path: 'users', name: 'Users', key: 'u', icon: Users },
  { path: 'courses', name: 'Courses', key: 'c', icon: BookOpen },
  { path: 'webhooks', name: 'Webhooks', key: 'w', icon: Webhook },
  { path: 'anomalies', name: 'Anomalies', key: 'a', icon: TriangleAlert },
  { path: 'alerts', name: 'Alerts', key: 'l', icon: BellRing },
  { path: 'reports', name: 'Reports', key: 'r', icon: FileText },
  { path: 'usage', name: 'Usage', key: 'm', icon: Gauge },
  { path: 'settings', name: 'Settings', key: 't', icon: Settings },
];

/** Links to the pages under `base`. */
export function Rail({ base, onNavigate }: { base: string; onNavigate(): void }) {
  const pathname = usePathname();
  return (
    <nav aria-label="Pages" className="flex flex-col gap-px">
      {NAVIGATION.map(({ path, name, icon: Icon }) => {
        const isCurrent = pathname.startsWith(`${base}/${path}`);
        return (
          <HoverLink
            key={path}
            href={`${base}/${path}`}
            onClick={onNavigate}
            aria-current={isCurrent ? 'page' : undefined}
            className={joinClasses(
              'flex h-8 items-center gap-2 rounded px-2',
              isCurrent ? 'bg-sunken font-medium text-ink' : 'text-muted hover:bg-sunken hover:text-ink',
            )}
          >
            <Icon size={16} aria-hidden />
            {name}
          </HoverLink>
        );
      })}
    </nav>
  );
}
