import type { Style } from './terminal.ts';

const STYLES: Readonly<Record<string, Style>> = {
  completed: 'green',
  running: 'bold',
  scheduled: 'bold',
  failed: 'yellow',
  timeout: 'yellow',
  permanently_failed: 'red',
  cancelled: 'dim',
  stale: 'dim',
  skipped: 'dim',
};

/** How a task's status looks on a terminal. */
export function styleOfStatus(status: string): Style {
  return STYLES[status] ?? 'bold';
}
