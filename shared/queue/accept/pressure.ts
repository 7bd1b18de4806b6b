import type { Settings, Source } from '../../config/index.ts';
import { MusterError } from '../../errors/index.ts';
import type { Ledger, NewTask, PressureLevel } from '../../ledger/index.ts';
import { type PriorityBand, priorityBand } from '../../tasks/index.ts';
import { type KnownPressure, monitorOf } from '../pressure/pressure-monitor.ts';
import { fleetBound, higherLevel, levelOf, type Load, type LoadBound, type Pressure, retryAfterMs, signalOf } from '../pressure/signal.ts';
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

/** While Redis is nearly full it has room for what was accepted alone. */
const FULL_RETRY_MS = 30_000;

/**
 * Refuses new work from `criticalMemory` on, so that what was accepted has room to end; the sub-tasks of running work belong to that. About one
 * round trip a second and process. Errors: `unavailable.memory`.
 */
export async function assertMemory(ports: PressurePorts, { body, skip }: NewTask): Promise<void> {
  const { criticalMemory } = ports.ledger.settings.limits.backpressure.fleet;
  if (criticalMemory === null || skip !== null || body.source === 'delegation') return;
  const share = await monitorOf(ports).memory.shareWith(bytesOf(body));
  if (share === null || share < criticalMemory) return;
  throw new MusterError('unavailable.memory', 'The memory of Redis is nearly full, and kept for work that was accepted before', {
    details: { helps: REFUSAL_HELPS.memory },
    retryAfterMs: FULL_RETRY_MS,
  });
}

/** What each task takes in Redis besides its texts, about; of a short one 1.8 kB are kept after its end (docs/measure.md). */
const TASK_BYTES = 2000;

function bytesOf({ input, system, context, metadata }: NewTask['body']): number {
  const objects = [context, metadata].reduce((sum, each) => sum + (each === null ? 0 : JSON.stringify(each).length), 0);
  return TASK_BYTES + input.length + (system?.length ?? 0) + objects;
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
  fleet: Load & { level: PressureLevel };
  scope: Pressure['scope'];
}

function refusal(task: { source: Source; band: PriorityBand }, load: CriticalLoad, settings: BackpressureSettings): MusterError {
  const { who, retryMs, ...facts } = load.scope === 'tenant' ? ofTenant(load.known, settings) : ofFleet(load, settings);
  const signal = signalOf({ level: 'critical', scope: load.scope, slowDown: null, ...facts });
  return new MusterError('limit.pressure', `${who} has too much work for ${task.source} tasks of priority ${task.band}`, {
    details: { ...task, ...signal, helps: REFUSAL_HELPS.pressure },
    retryAfterMs: retryMs,
  });
}

interface Overload {
  who: string;
  load: Load;
  bound?: LoadBound;
  retryMs: number;
}

function ofTenant(known: KnownPressure | null, settings: BackpressureSettings): Overload {
  const load = { depth: known?.depth ?? 0, waitMs: known?.waitMs ?? null };
  return { who: 'The tenant', load, ...boundOf(known), retryMs: retryAfterMs(load, known?.msPerStart ?? null, settings) };
}

/** A tenant is not shown how much the others have to do. */
function ofFleet({ known, fleet }: CriticalLoad, settings: BackpressureSettings): Overload {
  const load = { depth: known?.depth ?? 0, waitMs: fleet.waitMs };
  const retryMs = retryAfterMs(fleet, null, { ...settings, ...settings.fleet });
  return { who: 'The fleet', load, bound: fleetBound(fleet, settings), retryMs };
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
  return signalOf({
    level: fleet.level,
    scope: 'fleet',
    load: { depth: load.depth, waitMs: fleet.waitMs },
    slowDown,
    bound: fleetBound(fleet, backpressure),
  });
}

function boundOf(known: KnownPressure | null): Partial<Pick<KnownPressure, 'bound'>> {
  return known === null ? {} : { bound: known.bound };
}

/** The level of a tenant by what is known and by the depth, which is newer. */
function ownLoad(known: KnownPressure | null, { depth }: Load, settings: BackpressureSettings): Load & { level: PressureLevel } {
  const load = { depth, waitMs: known?.waitMs ?? null };
  return { ...load, level: levelOf(load, settings, known?.level ?? 'none', settings.recoverAt) };
}
