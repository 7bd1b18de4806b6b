import { lazy, type ComponentType } from 'react';
import type { ConsolePageName } from '../../console-pages.ts';
import type { PageProps } from '../routing/page-props.ts';

type LoadPage = () => Promise<{ Page: ComponentType<PageProps> }>;

const LOADS: LoadPage[] = [];

function page(load: LoadPage): ComponentType<PageProps> {
  LOADS.push(load);
  return lazy(async () => ({ default: (await load()).Page }));
}

/** A conversation keeps its state when its first message gives it an address, so both names have one component. */
const chat = page(() => import('./chat/chat-page.tsx'));

/** The component of each page. The browser loads its module when the page is first shown, or before by `preloadPages`. */
export const PAGE_COMPONENTS: Readonly<Record<ConsolePageName, ComponentType<PageProps>>> = {
  overview: page(() => import('./overview/overview-page.tsx')),
  tasks: page(() => import('./task-list/task-list-page.tsx')),
  task: page(() => import('./tasks/task-page.tsx')),
  sessions: page(() => import('./sessions/sessions-page.tsx')),
  chat,
  session: chat,
  questions: page(() => import('./questions/questions-page.tsx')),
  start: page(() => import('./start/start-page.tsx')),
  schedules: page(() => import('./schedules/schedules-page.tsx')),
  failures: page(() => import('./failures/failures-page.tsx')),
  fleet: page(() => import('./fleet/fleet-page.tsx')),
  usage: page(() => import('./usage/usage-page.tsx')),
  tenants: page(() => import('./tenants/tenants-page.tsx')),
  tenant: page(() => import('./tenants/tenant-page.tsx')),
  people: page(() => import('./people/people-page.tsx')),
  alerts: page(() => import('./health/alerts-page.tsx')),
  health: page(() => import('./health/health-page.tsx')),
  agents: page(() => import('./agents/agents-page.tsx')),
  agent: page(() => import('./agents/agent-page.tsx')),
  queues: page(() => import('./queues/queues-page.tsx')),
  hooks: page(() => import('./hooks/hooks-page.tsx')),
  hook: page(() => import('./hooks/hook-page.tsx')),
  deliveries: page(() => import('./deliveries/deliveries-page.tsx')),
  audit: page(() => import('./audit/audit-page.tsx')),
};

/**
 * Loads the modules of all pages, one by one while the browser has nothing to do: a page that opens with its module takes a long frame. What
 * cannot be loaded now is loaded with its page.
 */
export function preloadPages(): void {
  // Safari has none, and loads each module with its page.
  if (typeof requestIdleCallback !== 'function') return;
  const loadFrom = (place: number): void => {
    const load = LOADS[place];
    if (load === undefined) return;
    requestIdleCallback(() => {
      load()
        .catch(() => undefined)
        .finally(() => loadFrom(place + 1));
    });
  };
  loadFrom(0);
}
