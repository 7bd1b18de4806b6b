import type { Settings, Thresholds } from '../../config/index.ts';
import type { PressureBound, PressureLevel } from '../../ledger/index.ts';

type BackpressureSettings = Settings['limits']['backpressure'];

/** The load of a tenant or of the fleet. */
export interface Load {
  /** Tasks that have not ended. */
  depth: number;
  /** Estimated wait of the next task; null when unknown. */
  waitMs: number | null;
  /** Of the fleet: the share of its `maxmemory` that the fullest Redis uses; null without a bound. */
  memory?: number | null;
}

/** What a producer should know of the load. The names with `_` are those of proactive engines that obey such signals. */
interface Signal<Level extends PressureLevel> {
  type: 'backpressure';
  level: Level;
  /** What has too much work: the tenant, or the fleet that all tenants share. */
  scope: 'tenant' | 'fleet';
  /** Tasks of the tenant that have not ended. */
  queueDepth: number;
  queue_depth: number;
  estimatedWaitMs: number | null;
  /** Seconds. */
  estimated_wait_time: number | null;
  /** How many times slower to send; null for producers that need not, and where sending has to stop. */
  slowDown: number | null;
  slow_down: number | null;
  recommendations: string[];
}

export type Pressure = Signal<Exclude<PressureLevel, 'none'>>;

const RECOMMENDATIONS: Readonly<Record<PressureLevel, readonly string[]>> = {
  none: [],
  warning: ['Send proactive work less often', 'Delay what is not urgent'],
  critical: ['Pause proactive work', 'Hold back low priorities'],
};

/** What an operator can do besides, from the level critical on. */
const OPERATORS_HELP: Readonly<Record<LoadBound, string>> = {
  caps: "Raise the tenant's caps: its tasks wait for these, and more workers would not help",
  slots: 'Add workers or daemons',
  memory: 'Raise the maxmemory of Redis, or keep ended tasks for a shorter time (tasks.retentionMs)',
};

/** What there is too little of. */
export type LoadBound = PressureBound | 'memory';

const RANKS = { none: 0, warning: 1, critical: 2 } as const;

export function higherLevel(one: PressureLevel, other: PressureLevel): PressureLevel {
  return RANKS[one] >= RANKS[other] ? one : other;
}

interface SignalFacts<Level extends PressureLevel> {
  level: Level;
  scope: Pressure['scope'];
  load: Load;
  slowDown: number | null;
  /** Defaults to `slots`. */
  bound?: LoadBound;
}

/** The signal of a level; null without one. */
export function signalOf({ level, ...facts }: SignalFacts<PressureLevel>): Pressure | null {
  return level === 'none' ? null : describeLoad({ level, ...facts });
}

/** A load as producers read it, also one without a level. */
export function describeLoad<Level extends PressureLevel>({
  level,
  scope,
  load,
  slowDown,
  bound = 'slots',
}: SignalFacts<Level>): Signal<Level> {
  const factor = level === 'warning' ? slowDown : null;
  return {
    type: 'backpressure',
    level,
    scope,
    queueDepth: load.depth,
    queue_depth: load.depth,
    estimatedWaitMs: load.waitMs,
    estimated_wait_time: load.waitMs === null ? null : Math.round(load.waitMs / 1000),
    slowDown: factor,
    slow_down: factor,
    recommendations: [
      ...RECOMMENDATIONS[level],
      ...(level === 'critical' ? [OPERATORS_HELP[scope === 'fleet' && bound === 'caps' ? 'slots' : bound]] : []),
    ],
  };
}

/** The level of a load. A level that was reached before ends below the share `recoverAt` of its limits. */
export function levelOf(load: Load, thresholds: Thresholds, previous: PressureLevel, recoverAt: number): PressureLevel {
  const level = reaches(load, thresholds, 'critical', 1) ? 'critical' : reaches(load, thresholds, 'warning', 1) ? 'warning' : 'none';
  const isHeld = previous !== 'none' && RANKS[level] < RANKS[previous] && reaches(load, thresholds, previous, recoverAt);
  return isHeld ? previous : level;
}

function reaches(load: Load, thresholds: Thresholds, level: Pressure['level'], share: number): boolean {
  const { depth, waitMs, memory = null } = load;
  const isOver = (figure: number | null, bound: number | null): boolean => figure !== null && bound !== null && figure >= bound * share;
  return (
    isOver(depth, thresholds[`${level}Depth`]) ||
    isOver(waitMs, thresholds[`${level}WaitMs`]) ||
    isOver(memory, thresholds[`${level}Memory`] ?? null)
  );
}

/** What the fleet has too little of: memory where that alone gives it its level. */
export function fleetBound({ memory, ...load }: Load & { level: PressureLevel }, { fleet, recoverAt }: BackpressureSettings): LoadBound {
  return memory != null && levelOf(load, fleet, load.level, recoverAt) === 'none' ? 'memory' : 'slots';
}

const MIN_RETRY_MS = 5000;
const MAX_RETRY_MS = 600_000;
/** Where no task has ended yet. */
const UNKNOWN_RETRY_MS = 30_000;

/** When the level will no longer be critical, at the pace of the last starts. */
export function retryAfterMs(
  { depth, waitMs }: Load,
  msPerStart: number | null,
  { recoverAt, ...thresholds }: BackpressureSettings,
): number {
  const surplus = depth - recoverAt * thresholds.criticalDepth;
  const byDepth = surplus <= 0 || msPerStart === null ? [] : [surplus * msPerStart];
  const byWait = thresholds.criticalWaitMs === null || waitMs === null ? [] : [waitMs - recoverAt * thresholds.criticalWaitMs];
  const known = [...byDepth, ...byWait].filter((ms) => ms > 0);
  const ms = known.length === 0 ? UNKNOWN_RETRY_MS : Math.max(...known);
  return Math.round(Math.min(Math.max(ms, MIN_RETRY_MS), MAX_RETRY_MS));
}
