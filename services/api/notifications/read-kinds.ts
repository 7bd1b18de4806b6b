import { MusterError } from '#shared/errors/index.ts';

/** Which kinds of notifications a reader wants. */
export interface WantedKinds {
  /** Whether this kind is among them. */
  has(kind: string): boolean;
}

/** What a reader gets that names no kinds: not each step of each task. */
const DEFAULT_KINDS = ['run.*', 'schedule.*', 'backpressure.*', 'fleet.*', 'task.permanently_failed'];
const MAX_KINDS = 50;
const KIND = /^(?:\*|(?:run|task|schedule|backpressure|fleet)\.(?:\*|[a-z_-]{1,40}(?:\.[a-z_-]{1,40})?(?:\.\*)?))$/;

/**
 * Reads `?kinds=run.*,task.failed`: names, or beginnings with `.*` behind them; `*` is all. What concerns the fleet is left out for
 * those who may not have it. Errors: `request.invalid`; `auth.forbidden` for those who name it all the same.
 */
export function readKinds(text: string | undefined, mayHaveFleet: boolean): WantedKinds {
  const kinds = text === undefined ? DEFAULT_KINDS : text.split(',').map((kind) => kind.trim());
  const wrong = kinds.find((kind) => !KIND.test(kind));
  if (wrong !== undefined || kinds.length > MAX_KINDS)
    throw new MusterError(
      'request.invalid',
      `kinds: expected up to ${MAX_KINDS} like run.*, task.completed, schedule.paused, backpressure.*, fleet.* or *`,
      { details: { kinds: (wrong ?? text ?? '').slice(0, 100) } },
    );
  if (text !== undefined && !mayHaveFleet && kinds.some((kind) => kind.startsWith('fleet.')))
    throw new MusterError('auth.forbidden', 'What concerns the fleet needs a key of the tenant "default" with the scope "operate"');
  const names = new Set(kinds);
  const beginnings = kinds.filter((kind) => kind.endsWith('*')).map((kind) => kind.slice(0, -1));
  return {
    has: (kind) =>
      (mayHaveFleet || !kind.startsWith('fleet.')) && (names.has(kind) || beginnings.some((beginning) => kind.startsWith(beginning))),
  };
}
