/** What helps when a task is refused. */
export const REFUSAL_HELPS = {
  rate: 'Send less often, or ask an administrator for a higher rate.',
  waiting: "It is accepted when fewer tasks wait. An administrator can raise the tenant's `waiting`.",
  pressure: 'Send it again later, or with a higher priority.',
  memory: 'Send it again later. An operator gives Redis more memory, or keeps ended tasks for a shorter time.',
} as const;
