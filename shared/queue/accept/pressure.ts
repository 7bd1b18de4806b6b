import type { Settings, Source } from '../../config/index.ts';
import { MusterError } from '../../errors/index.ts';
import type { Ledger, NewTask, PressureLevel } from '../../ledger/index.ts';
import { type PriorityBand, priorityBand } from '../../tasks/index.ts';
import { type KnownPressure, monitorOf } from '../pressure/pressure-monitor.ts';
import { higherLevel, levelOf, type Load, type Pressure, retryAfterMs, signalOf } from '../pressure/signal.ts';
import { REFUSAL_HELPS } from './refusal-helps.ts';
import type { Intake } from './request.ts';

type BackpressureSettings = Settings['limits']['backpressure'];
type PressurePorts = Pick<Intake, 'ledger' | 'log'>;

/**
 * Refuses a task that can wait while the tenant, or the fleet, has too much work: a proactive one, or one of low priority. Other tasks
 * cost no round trip here. Errors: `limit.pressure`.
 */
export async function assertNotShed(ports: PressurePorts, task: NewTask): Promise<void> {
  const { ledger } = ports;
  if (!mayBeShed(ledger, task)) return;
  const { tenant, source } = task.body;
  const band = priorityBand(task.queue, task.priority);
  const monitor = monitorOf(ports);
  const [known, fleet] = await Promise.all([monitor.read(tenant), monitor.readFleet()]);
  const scope = known?.level === 'critical' ? 'tenant' : 'fleet';
  if (scope === 'fleet' && fleet.level !== 'critical') return;
  ledger.counts.taskShed(tenant, { queue: task.queue, priority: task.priority, source });
  monitor.countRefused(tenant, `${source}|${band}`);
  throw refusal({ source, band }, { known, fleet, scope }, ledger.settings.limits.backpressure);
}

/** Whether `assertNotShed` may refuse a task. */
function mayBeShed({ settings }: Ledger, { body, queue, priority, skip }: NewTask): boolean {
  return skip === null && settings.limits.backpressure.shed && isSheddable(body.source, priorityBand(queue, priority));
}

/** Running work needs its sub-tasks, and would fail without them. */
function isSheddable(source: Source, band: PriorityBand): boolean {
  return source === 'proactive' || (band === 'low' && source !== 'delegation');
}

interface CriticalLoad {
  known: KnownPressure | null;
  fleet: Load;
  scope: Pressure['scope'];
}

function refusal(
  task: { source: Source; band: PriorityBand },
  { known, fleet, scope }: CriticalLoad,
  settings: BackpressureSettings,
): MusterError {
  // A tenant is not shown how much the others have to do.
  const own = { depth: known?.depth ?? 0, waitMs: scope === 'tenant' ? (known?.waitMs ?? null) : fleet.waitMs };
  const signal = signalOf({ level: 'critical', scope, load: own, slowDown: null, ...boundOf(known) });
  const retryMs =
    scope === 'tenant'
      ? retryAfterMs(own, known?.msPerStart ?? null, settings)
      : retryAfterMs(fleet, null, { ...settings, ...settings.fleet });
  const who = scope === 'tenant' ? 'The tenant' : 'The fleet';
  return new MusterError('limit.pressure', `${who} has too much work for ${task.source} tasks of priority ${task.band}`, {
    details: { ...task, ...signal, helps: REFUSAL_HELPS.pressure },
    retryAfterMs: retryMs,
  });
}

/**
 * The load that a producer should know of; null below the levels. What crosses a level is published in the background, once.
 * A chore notices that the pressure is over.
 */
export function reportPressure(ports: PressurePorts, { body }: NewTask, load: Load): Pressure | null {
  const { backpressure } = ports.ledger.settings.limits;
  const monitor = monitorOf(ports);
  // The estimate of one task is no measure for all of them: only the depth counts at once.
  const levelByDepth = levelOf({ depth: load.depth, waitMs: null }, backpressure, 'none', 1);
  monitor.notice(body.tenant, { level: levelOf(load, backpressure, 'none', 1), levelByDepth });
  const slowDown = body.source === 'proactive' ? backpressure.slowDown : null;
  const fleet = monitor.knownFleet();
  const known = monitor.known(body.tenant);
  const own = ownLoad(known, load, backpressure);
  if (higherLevel(own.level, fleet.level) === own.level)
    return signalOf({ level: own.level, scope: 'tenant', load: own, slowDown, ...boundOf(known) });
  return signalOf({ level: fleet.level, scope: 'fleet', load: { depth: load.depth, waitMs: fleet.waitMs }, slowDown });
}

function boundOf(known: KnownPressure | null): Partial<Pick<KnownPressure, 'bound'>> {
  return known === null ? {} : { bound: known.bound };
}

/** The level of a tenant by what is known and by the depth, which is newer. */
function ownLoad(known: KnownPressure | null, { depth }: Load, settings: BackpressureSettings): Load & { level: PressureLevel } {
  const load = { depth, waitMs: known?.waitMs ?? null };
  return { ...load, level: levelOf(load, settings, known?.level ?? 'none', settings.recoverAt) };
}
