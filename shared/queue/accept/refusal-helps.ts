/** What helps when a task is refused. */
export const REFUSAL_HELPS = {
  rate: 'Send less often, or ask an administrator for a higher rate.',
  waiting: "It is accepted when fewer tasks wait. An administrator can raise the tenant's `waiting`.",
  pressure: 'Send it again later, or with a higher priority.',
} as const;
