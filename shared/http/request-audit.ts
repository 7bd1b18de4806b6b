import type { Request } from 'express';
import { actorOf, type AuditEntry, recordAudit } from '../audit/index.ts';
import { CLI_AGENT } from '../config/index.ts';
import type { Log } from '../log/index.ts';
import type { ApiKey } from '../tenants/index.ts';
import { Recent, withinAttentive } from '../time/index.ts';
import { toMusterError } from './answers/problems.ts';
import type { HttpPorts } from './request-context.ts';
import { ERROR_CODES } from '../errors/index.ts';
import type { Answer, Route } from './route.ts';

/** Refusals of one caller that become entries in a minute: more would push out what was done. */
const MAX_REFUSED_PER_MINUTE = 10;
const MINUTE_MS = 60_000;
const MAX_CALLERS = 1000;
/** How long an answer waits for its entry while Redis is slow; the entry is written all the same. */
const MAX_WAIT_MS = 500;

/** What an entry says of a request; a route that was called by another protocol has its own parameters and body. */
type AuditedRequest = Pick<Request, 'params' | 'body' | 'ip' | 'headers'>;

/** A call of a route by a key: its own, and as it counts for the call; null for a call without a key, which leaves no entry. */
export interface AuditedCall {
  readonly route: Route;
  readonly request: AuditedRequest;
  readonly own: ApiKey | null;
  readonly key: ApiKey | null;
}

/** RequestAudit is responsible for the entries that calls of the API leave in the audit log of the tenant that they change. */
export class RequestAudit {
  readonly #ports: HttpPorts & { readonly log: Log };
  /** Caller -> refusals of a minute. */
  readonly #refused = new Recent<string, { minute: number; count: number }>({ maxEntries: MAX_CALLERS });

  constructor(ports: HttpPorts & { readonly log: Log }) {
    this.#ports = ports;
  }

  /** Records a change that was made. Never rejects. */
  async recordAnswer(call: AuditedCall, { status, body }: Answer): Promise<void> {
    if (!this.#isAudited(call.route) || isDryRun(call.request.body)) return;
    await this.#record(call, { outcome: status < 400 ? 'done' : 'refused', code: null }, body);
  }

  /** Records a change that was refused, or failed. Never rejects. */
  async recordProblem(call: AuditedCall, thrown: unknown): Promise<void> {
    if (call.own === null || !this.#isAudited(call.route) || this.#isSurplus(call.own.id)) return;
    const { code } = toMusterError(thrown);
    // The entry could not be written either, and would hold up the answer.
    if (code === 'unavailable.redis') return;
    await this.#record(call, { outcome: ERROR_CODES[code].status >= 500 ? 'failed' : 'refused', code }, null);
  }

  #isAudited({ method, audit }: Route): boolean {
    if (method === 'get' || audit === 'never') return false;
    return audit !== 'work' || this.#ports.config.settings.audit.work;
  }

  #isSurplus(caller: string): boolean {
    const minute = Math.floor(Date.now() / MINUTE_MS);
    const known = this.#refused.get(caller);
    const count = known?.minute === minute ? known.count + 1 : 1;
    this.#refused.set(caller, { minute, count });
    return count > MAX_REFUSED_PER_MINUTE;
  }

  async #record(call: AuditedCall, result: Pick<AuditEntry, 'outcome' | 'code'>, answer: unknown): Promise<void> {
    const { route, request, own, key } = call;
    if (own === null || key === null) return;
    const { redis, keys, config, log } = this.#ports;
    const recorded = recordAudit({ redis, keys, settings: config.settings, log }, key.tenant, {
      actor: actorOf(key, own.tenant),
      via: originOf(request),
      from: request.ip ?? null,
      action: route.operationId,
      object: objectOf(route, request, answer),
      fields: result.outcome === 'done' ? fieldsOf(request.body) : [],
      ...result,
    });
    await withinAttentive(recorded, MAX_WAIT_MS);
  }
}

/** A dry run changes nothing; its routes take it in their body. */
function isDryRun(body: unknown): boolean {
  return typeof body === 'object' && body !== null && 'dryRun' in body && body.dryRun === true;
}

function originOf({ headers }: AuditedRequest): AuditEntry['via'] {
  if (headers.authorization === undefined) return 'console';
  return headers['user-agent']?.startsWith(CLI_AGENT) === true ? 'cli' : 'api';
}

/** The path up to its last id, without a verb behind it; what a call made is named by the id that it answered with. */
function objectOf({ method, path }: Route, { params }: AuditedRequest, answer: unknown): string {
  const parts = path.replace(/^\/v1\//, '').split('/');
  const made = method === 'post' ? idOf(answer) : null;
  const names = Object.values(params).map(String);
  const isMade = made !== null && !names.includes(made);
  const last = parts.findLastIndex((part) => part.startsWith(':'));
  const shown = isMade || last === -1 ? parts : parts.slice(0, last + 1);
  const filled = shown.map((part) => (part.startsWith(':') ? String(params[part.slice(1)] ?? part) : part));
  return [...filled, ...(isMade ? [made] : [])].join('/');
}

function idOf(answer: unknown): string | null {
  if (typeof answer !== 'object' || answer === null || !('id' in answer)) return null;
  return typeof answer.id === 'string' ? answer.id : null;
}

function fieldsOf(body: unknown): string[] {
  return typeof body === 'object' && body !== null && !Array.isArray(body) && !Buffer.isBuffer(body) ? Object.keys(body) : [];
}
