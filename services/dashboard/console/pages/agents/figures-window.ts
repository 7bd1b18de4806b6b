/** The newest tasks that are listed; the API's largest page. */
export const AGENT_TASKS_SHOWN = 200;

/** Windows of figures, in hours; the first is the default. */
export const WINDOWS = ['24', '1', '168'] as const;

/** What a window is called. */
export function windowText(hours: number): string {
  return hours === 1 ? 'this hour' : hours > 24 ? `the last ${Math.round(hours / 24)} days` : `the last ${hours} hours`;
}
