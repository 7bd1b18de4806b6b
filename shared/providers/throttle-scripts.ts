import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import type { Settings } from '../config/index.ts';
import { type Keys, loadScripts, type RedisClient, runGathered, runScript, type Script, scriptJson } from '../redis/index.ts';
import { type ProviderAccount, throttleId } from './account.ts';
import type { Refusal, StatedLimit } from './answers/index.ts';

export interface ThrottlePorts {
  readonly redis: RedisClient;
  readonly keys: Keys;
  readonly settings: Pick<Settings, 'throttle' | 'providers' | 'worker'>;
}

/** A model of an account: what has one throttle in the fleet. */
export interface ThrottledModel {
  readonly account: ProviderAccount;
  readonly model: string;
}

/** The bands that take turns; critical calls are of the high one. */
export const THROTTLE_BANDS = ['high', 'normal', 'low'] as const;
export type ThrottleBand = (typeof THROTTLE_BANDS)[number];

const SCRIPTS = loadScripts(fileURLToPath(new URL('scripts', import.meta.url)));
const MINUTE_MS = 60_000;

function scriptOf(name: 'admit-call' | 'report-call' | 'reserve-calls' | 'settle-release' | 'give-call'): Script {
  const script = SCRIPTS.get(name);
  if (!script) throw new Error(`The script ${name} is missing`);
  return script;
}

/** Among whose tasks a call's task waits. */
export interface CallFlow {
  readonly tenant: string;
  readonly band: ThrottleBand;
  readonly weight: number;
}

/** A call as `admit-call.lua` takes it. */
export interface AdmissionInput extends CallFlow {
  permit: string;
  tokens: number;
  isFirst: boolean;
  /** Whether an earlier attempt of its task may have been released with a place for this call. */
  isReturning: boolean;
  /** How long it may still wait in its slot. */
  leftMs: number;
}

const BECAUSE = ['rate', 'tokens', 'concurrent', 'cooldown', 'wall'] as const;
const admissionSchema = z.union([
  z.tuple([z.literal('go'), z.int(), z.int()]),
  z.tuple([z.literal('wait'), z.enum(BECAUSE), z.int(), z.int(), z.enum(['model', 'account', 'endpoint']), z.int()]),
]);
export type Because = (typeof BECAUSE)[number];

/** See the header of the script for its answer. */
export async function admitCall(
  ports: ThrottlePorts,
  target: ThrottledModel,
  call: AdmissionInput,
): Promise<z.infer<typeof admissionSchema>> {
  const { state, window, calls, line, reserved, turns, flows, account, endpoint, throttles, waits } = keysOf(ports, target);
  const keys = [state, window, calls, line, reserved, turns, ...flows, account, endpoint, throttles, waits];
  const names = { account: target.account.name, model: target.model, endpoint: target.account.endpoint };
  const args = [scriptJson({ ...optionsOf(ports, target), ...names }), scriptJson(call)];
  return admissionSchema.parse(await runGathered(ports.redis, scriptOf('admit-call'), keys, args));
}

/** A call that ended, as `report-call.lua` takes it. */
export interface ReportInput {
  permit: string;
  /** What it was booked for, ms and tokens. */
  at: number;
  booked: number;
  /** How long ago it was sent, ms, and after how long its answer began. */
  sentAgoMs?: number | undefined;
  beganAfterMs?: number | undefined;
  /** Where its task waits after a refusal. */
  flow: CallFlow;
  used?: number | undefined;
  isUnused?: boolean | undefined;
  isAnswered?: boolean | undefined;
  block?: Refusal | undefined;
  requests?: StatedLimit | undefined;
  tokens?: StatedLimit | undefined;
}

const flag = z.int().transform((value) => value === 1);
const reportedSchema = z.tuple([flag, flag, flag, z.int()]);

/** Returns whether tasks wait for the model, whether a wall rose, whether one fell, and until when its refusal holds, ms; 0 for none. */
export async function reportCall(
  ports: ThrottlePorts,
  target: ThrottledModel,
  report: ReportInput,
): Promise<z.infer<typeof reportedSchema>> {
  const { state, window, calls, account, endpoint, waits, turns, flows } = keysOf(ports, target);
  const keys = [state, window, calls, account, endpoint, waits, turns, ...flows];
  const args = [scriptJson(optionsOf(ports, target)), scriptJson(report)];
  return reportedSchema.parse(await runGathered(ports.redis, scriptOf('report-call'), keys, args));
}

/** A flow whose task was given a call. */
export type BookedCall = Pick<CallFlow, 'band' | 'tenant'>;

/** Books calls for tasks that wait, at most `max`; flows in `excluded` are skipped. */
export async function reserveCalls(
  ports: ThrottlePorts,
  target: ThrottledModel,
  { max, excluded }: { max: number; excluded: readonly BookedCall[] },
): Promise<BookedCall[]> {
  const { state, window, calls, line, reserved, turns, flows, account, endpoint, waits } = keysOf(ports, target);
  const keys = [state, window, calls, line, reserved, turns, ...flows, account, endpoint, waits];
  const passed = excluded.map(({ band, tenant }) => `${band}/${tenant}`);
  const reply = await runScript(ports.redis, scriptOf('reserve-calls'), keys, [
    scriptJson(optionsOf(ports, target)),
    max,
    scriptJson(passed),
  ]);
  return z.array(z.string()).parse(reply).map(readFlow);
}

function readFlow(name: string): BookedCall {
  const border = name.indexOf('/');
  return { band: z.enum(THROTTLE_BANDS).parse(name.slice(0, border)), tenant: name.slice(border + 1) };
}

/** Counts the calls whose tasks were released, and releases those for which the tenant had no task. */
export async function settleRelease(
  ports: ThrottlePorts,
  target: ThrottledModel,
  tenant: string,
  { released, missing }: { released: readonly BookedCall[]; missing: readonly BookedCall[] },
): Promise<void> {
  const { state, window, calls, reserved, turns, flows, waits } = keysOf(ports, target);
  const [served, absent] = [released, missing].map((booked) => scriptJson(booked.map(({ band }) => band)));
  const args = [scriptJson(optionsOf(ports, target)), tenant, served ?? '[]', absent ?? '[]'];
  await runScript(ports.redis, scriptOf('settle-release'), [state, window, calls, reserved, turns, ...flows, waits], args);
}

/** Has a tenant's next call go in spite of what the provider refused: a person wants to know. Rates that are bound stay so. */
export async function giveCall(ports: ThrottlePorts, target: ThrottledModel, tenant: string): Promise<void> {
  const { state, window, calls, reserved, account, endpoint } = keysOf(ports, target);
  const keys = [state, window, calls, reserved, account, endpoint];
  await runScript(ports.redis, scriptOf('give-call'), keys, [scriptJson(optionsOf(ports, target)), tenant]);
}

/** The model of an account by the id of its throttle; null when it was forgotten. */
export async function findThrottled({ redis, keys, settings }: ThrottlePorts, id: string): Promise<ThrottledModel | null> {
  const [name, model, endpoint] = await redis.hmget(keys.fleet.throttle(id), 'account', 'model', 'endpoint');
  if (!name || !model || !endpoint) return null;
  return { account: { name, endpoint, limits: settings.providers[name] ?? {} }, model };
}

interface ThrottleKeys {
  state: string;
  window: string;
  calls: string;
  line: string;
  reserved: string;
  turns: string;
  flows: string[];
  account: string;
  endpoint: string;
  throttles: string;
  waits: string;
}

/** The keys of a model's throttle. */
export function keysOf({ keys: { fleet } }: Pick<ThrottlePorts, 'keys'>, { account, model }: ThrottledModel): ThrottleKeys {
  const id = throttleId(account, model);
  return {
    state: fleet.throttle(id),
    window: fleet.throttleWindow(id),
    calls: fleet.throttleCalls(id),
    line: fleet.throttleLine(id),
    reserved: fleet.throttleReserved(id),
    turns: fleet.throttleTurns(id),
    flows: THROTTLE_BANDS.map((band) => fleet.throttleFlows(id, band)),
    account: fleet.throttleBlock(`account:${account.name}`),
    endpoint: fleet.throttleBlock(`endpoint:${account.endpoint}`),
    throttles: fleet.throttles,
    waits: fleet.throttleWaits,
  };
}

function optionsOf({ settings: { throttle, worker } }: ThrottlePorts, { account, model }: ThrottledModel): object {
  const { burst, horizonMs, reservationMs, callLeaseMs, coolDownMs, probeMs, maxProbeMs, maxRecords, retentionMs } = throttle;
  const { requestsPerMinute, tokensPerMinute, concurrent } = account.limits;
  return {
    id: throttleId(account, model),
    requests: requestsPerMinute,
    tokens: tokensPerMinute,
    concurrent,
    shares: worker.shares,
    burstMs: Math.round(burst * MINUTE_MS),
    horizonMs,
    reservationMs,
    callLeaseMs,
    coolDownMs,
    probeMs,
    maxProbeMs,
    maxRecords,
    retentionMs,
  };
}
