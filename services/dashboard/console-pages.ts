/** A page of the console, for the server's routes, the navigation and the palette. */
export interface ConsolePage {
  readonly name: string;
  /** Its address; `:id` stands for one part, which the page receives decoded. */
  readonly path: string;
  readonly text: string;
  readonly group: ConsoleGroup;
  /** The scope that its reads need. */
  readonly needs: 'admin' | 'operate' | 'submit' | 'read';
  /** Whether only keys of the tenant `default` get answers. */
  readonly ofInstallation?: boolean;
  /** Pages of one record are reached from their list. */
  readonly inNavigation?: boolean;
  /** The path of the page that lists its records, which the navigation marks. */
  readonly list?: string;
}

/** The groups of the navigation, in their order. */
export const CONSOLE_GROUPS = [
  { name: 'work', text: 'Work' },
  { name: 'fleet', text: 'Fleet' },
  { name: 'connections', text: 'Connections' },
  { name: 'administration', text: 'Administration' },
] as const;
export type ConsoleGroup = (typeof CONSOLE_GROUPS)[number]['name'];

/** One line per page; `console/pages/registry.ts` has the module of each. */
const LIST = [
  { name: 'overview', path: '/', text: 'Now', group: 'work', needs: 'read' },
  { name: 'tasks', path: '/tasks', text: 'Tasks', group: 'work', needs: 'read' },
  { name: 'task', path: '/tasks/:id', text: 'Task', group: 'work', needs: 'read', inNavigation: false, list: '/tasks' },
  { name: 'sessions', path: '/sessions', text: 'Sessions', group: 'work', needs: 'read' },
  { name: 'chat', path: '/chat', text: 'Chat', group: 'work', needs: 'submit' },
  { name: 'questions', path: '/questions', text: 'Questions', group: 'work', needs: 'read' },
  { name: 'session', path: '/sessions/:id', text: 'Chat', group: 'work', needs: 'read', inNavigation: false, list: '/sessions' },
  { name: 'schedules', path: '/schedules', text: 'Schedules', group: 'work', needs: 'read' },
  { name: 'failures', path: '/failures', text: 'Failures', group: 'work', needs: 'read' },
  { name: 'agents', path: '/agents', text: 'Agents', group: 'fleet', needs: 'read' },
  { name: 'agent', path: '/agents/:id', text: 'Agent', group: 'fleet', needs: 'read', inNavigation: false, list: '/agents' },
  { name: 'fleet', path: '/fleet', text: 'Fleet', group: 'fleet', needs: 'read' },
  { name: 'queues', path: '/queues', text: 'Queues', group: 'fleet', needs: 'read', ofInstallation: true },
  { name: 'hooks', path: '/hooks', text: 'Hooks', group: 'connections', needs: 'read' },
  { name: 'hook', path: '/hook/:id', text: 'Hook', group: 'connections', needs: 'read', inNavigation: false, list: '/hooks' },
  { name: 'deliveries', path: '/deliveries', text: 'Deliveries', group: 'connections', needs: 'read' },
  { name: 'usage', path: '/usage', text: 'Usage', group: 'administration', needs: 'read' },
  { name: 'tenants', path: '/tenants', text: 'Tenants and keys', group: 'administration', needs: 'admin' },
  { name: 'people', path: '/people', text: 'People', group: 'administration', needs: 'admin' },
  {
    name: 'tenant',
    path: '/tenants/:id',
    text: 'Tenant',
    group: 'administration',
    needs: 'admin',
    ofInstallation: true,
    inNavigation: false,
    list: '/tenants',
  },
  { name: 'alerts', path: '/alerts', text: 'Alerts', group: 'administration', needs: 'read', ofInstallation: true },
  { name: 'health', path: '/health', text: 'Settings and health', group: 'administration', needs: 'admin', ofInstallation: true },
  { name: 'audit', path: '/audit', text: 'Audit log', group: 'administration', needs: 'admin' },
  { name: 'start', path: '/start', text: 'First steps', group: 'work', needs: 'read', inNavigation: false },
] as const satisfies readonly ConsolePage[];
export type ConsolePageName = (typeof LIST)[number]['name'];

export type ListedPage = ConsolePage & { readonly name: ConsolePageName };

/** Addresses that pages had before. */
export const FORMER_PATHS: Readonly<Record<string, string>> = { '/workflows': '/schedules' };

/** All pages of the console, in the order of the navigation. */
export const CONSOLE_PAGES: readonly ListedPage[] = LIST;
