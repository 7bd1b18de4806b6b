import type { Settings } from '../../config/index.ts';
import { type Ledger, updatePressure, type PressureLevel } from '../../ledger/index.ts';
import type { Intake } from './accept-task.ts';

/** How loaded the fleet is, from the caller's point of view. */
export interface Pressure {
  level: 'warning' | 'critical';
  /** Tasks of the tenant that have not ended. */
  queueDepth: number;
  recommendations: string[];
}

/** A level that was noted serves further calls of this process for so long. */
const FRESH_MS = 1000;
/** Tenants whose level is remembered. */
const REMEMBERED = 1000;

interface Noted {
  level: PressureLevel;
  /** Monotonic ms. */
  at: number;
}

const levels = new WeakMap<Ledger, Map<string, Noted>>();

/**
 * Sees to it that a tenant is told once that it came under pressure, and answers the same. Nobody waits for it, it costs nothing where
 * there is none, and it makes no task. That the pressure is over is for a chore to see.
 */
export function reportPressure(parts: Pick<Intake, 'ledger' | 'log'>, tenant: string, pressure: Pressure | null): Pressure | null {
  if (pressure !== null && !isNoted(parts.ledger, tenant, pressure.level)) {
    updatePressure(parts.ledger, tenant).catch((error: unknown) =>
      parts.log.debug({ err: error, tenant }, 'the pressure of a tenant was not noted'),
    );
  }
  return pressure;
}

/** Whether this process noted it just now; from now on it has. */
function isNoted(ledger: Ledger, tenant: string, level: PressureLevel): boolean {
  const known = levels.get(ledger) ?? new Map<string, Noted>();
  levels.set(ledger, known);
  const noted = known.get(tenant);
  const at = performance.now();
  if (noted?.level === level && at - noted.at < FRESH_MS) return true;
  if (known.size >= REMEMBERED) known.clear();
  // Before the answer, so that the calls that come meanwhile do not all ask.
  known.set(tenant, { level, at });
  return false;
}

/** The load a producer should know of; null when there is none to speak of. */
export function pressureOf(settings: Settings, queueDepth: number): Pressure | null {
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
