import type { Settings } from '../../config/index.ts';
import { type Ledger, type PressureLevel, updatePressure } from '../../ledger/index.ts';
import type { Intake } from './request.ts';

/** How loaded the fleet is, from the caller's point of view. */
export interface Pressure {
  level: Exclude<PressureLevel, 'none'>;
  /** Tasks of the tenant that have not ended. */
  queueDepth: number;
  recommendations: string[];
}

/** A level that was noted counts for further calls of this process for so long. */
const FRESH_MS = 1000;
/** Tenants whose level is remembered. */
const MAX_TENANTS = 1000;

interface NotedLevel {
  level: Exclude<PressureLevel, 'none'>;
  /** Monotonic ms. */
  at: number;
}

const notedLevels = new WeakMap<Ledger, Map<string, NotedLevel>>();

/**
 * The load a producer should know of; null when there is none to speak of. A tenant that came under pressure is notified once, in the
 * background. A chore notices that the pressure is over.
 */
export function reportPressure({ ledger, log }: Pick<Intake, 'ledger' | 'log'>, tenant: string, queueDepth: number): Pressure | null {
  const pressure = pressureOf(ledger.settings, queueDepth);
  if (pressure === null || wasJustNoted(ledger, tenant, pressure.level)) return pressure;
  updatePressure(ledger, tenant).catch((error: unknown) => log.debug({ err: error, tenant }, 'the pressure of a tenant was not noted'));
  return pressure;
}

function pressureOf(settings: Settings, queueDepth: number): Pressure | null {
  const { warningDepth, criticalDepth } = settings.limits.backpressure;
  if (queueDepth >= criticalDepth) {
    return {
      level: 'critical',
      queueDepth,
      recommendations: ['Pause proactive work', 'Hold back low priorities', 'Add workers or daemons'],
    };
  }
  if (queueDepth >= warningDepth) {
    return { level: 'warning', queueDepth, recommendations: ['Send proactive work less often', 'Delay what is not urgent'] };
  }
  return null;
}

/** Whether this process noted the level a moment ago; if not, it counts as noted from now on. */
function wasJustNoted(ledger: Ledger, tenant: string, level: Pressure['level']): boolean {
  const known = notedLevels.get(ledger) ?? new Map<string, NotedLevel>();
  notedLevels.set(ledger, known);
  const noted = known.get(tenant);
  const at = performance.now();
  if (noted?.level === level && at - noted.at < FRESH_MS) return true;
  if (known.size >= MAX_TENANTS) known.clear();
  // Before the call, so that concurrent requests do not all make it.
  known.set(tenant, { level, at });
  return false;
}
