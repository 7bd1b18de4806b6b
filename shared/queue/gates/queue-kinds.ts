import type { HoldGate, WaitGate } from '../../errors/index.ts';
import type { GateKind } from '../../ledger/index.ts';
import type { RegistryPorts } from '../registry/worker-registry.ts';
import { CAP } from './cap.ts';
import { CLOCK } from './clock.ts';
import { DEADLINE } from './deadline.ts';
import { DEBOUNCE } from './debounce.ts';
import { FLEET } from './fleet.ts';
import { LANE } from './lane.ts';
import { OUTBOX } from './outbox.ts';
import { PAUSED } from './paused.ts';
import { QUEUE } from './queue.ts';
import { RATE } from './rate.ts';
import { RETRY } from './retry.ts';
import { STEER } from './steer.ts';
import { SUSPECT } from './suspect.ts';
import { TIME } from './time.ts';
import { TURN } from './turn.ts';
import { VERSION } from './version.ts';
import { workerKind } from './worker.ts';

/** By gate. */
type QueueKinds = Readonly<Record<Exclude<WaitGate, HoldGate> | 'paused' | 'worker', GateKind>>;

/** The gates that this folder knows, those of one sort in the order in which a task comes to them. Other folders have what holds tasks for them. */
export function queueKinds(ports: RegistryPorts): QueueKinds {
  return {
    time: TIME,
    debounce: DEBOUNCE,
    retry: RETRY,
    suspect: SUSPECT,
    clock: CLOCK,
    lane: LANE,
    steer: STEER,
    cap: CAP,
    paused: PAUSED,
    worker: workerKind(ports),
    version: VERSION,
    turn: TURN,
    outbox: OUTBOX,
    rate: RATE,
    fleet: FLEET,
    queue: QUEUE,
    deadline: DEADLINE,
  };
}
