// Names of what is cached: what changes records names those that are read again.

export const AGENTS_KEY = ['agents', 'catalogue'] as const;
export const ALERTS_KEY = ['alerts'] as const;
export const DELIVERIES_KEY = ['deliveries'] as const;
export const ENDPOINTS_KEY = ['callback-endpoints'] as const;
export const HOOKS_KEY = ['hooks'] as const;
export const hookKey = (id: string): readonly string[] => [...HOOKS_KEY, id];
export const QUESTIONS_KEY = ['questions'] as const;
export const OPEN_QUESTIONS_KEY = [...QUESTIONS_KEY, 'open'] as const;
export const QUEUES_KEY = ['queues'] as const;
