import { Router, type ErrorRequestHandler, type RequestHandler, type Response } from 'express';
import { actorOf, type AuditEntry, recordAudit } from '#shared/audit/index.ts';
import { MusterError } from '#shared/errors/index.ts';
import { logFailure, requestError, toMusterError, toProblem } from '#shared/http/index.ts';
import type { Ledger } from '#shared/ledger/index.ts';
import type { Log } from '#shared/log/index.ts';
import type { Queues } from '#shared/queue/index.ts';
import type { Keys } from '#shared/redis/index.ts';
import { DEFAULT_TENANT, hasScope, publicTenantId, type TenantDirectory } from '#shared/tenants/index.ts';
import { personOf, requireSameOrigin } from '../sign-in/require-sign-in.ts';
import { createBoard } from './create-board.ts';

interface BoardPorts {
  ledger: Ledger;
  queues: Queues;
  keys: Keys;
  tenants: Pick<TenantDirectory, 'hasOthers'>;
  log: Log;
}

/** The routes below `/board`, after the sign-in: Bull Board behind its access rule, with a log of its actions. */
export function boardRoutes(parts: BoardPorts): Router {
  const router = Router();
  router.use(requireSameOrigin, requireBoardAccess(parts.tenants), recordActions(parts), showBoard(parts));
  return router;
}

/**
 * The queues carry the tickets of every tenant, so seeing them takes tenant `default` and the scope `admin`, which may make keys for
 * any tenant. While there is no other tenant, every key of `default` sees them. Changes take the scope `operate`.
 * Errors: `auth.forbidden`.
 */
function requireBoardAccess(tenants: Pick<TenantDirectory, 'hasOthers'>): RequestHandler {
  return async (request, _response, next) => {
    const { tenant, scopes } = personOf(request);
    if (tenant !== DEFAULT_TENANT) throw accessDenied(`yours is of "${publicTenantId(tenant)}"`);
    if (!hasScope(scopes, 'admin') && (await tenants.hasOthers())) throw accessDenied('yours has another scope');
    if (request.method !== 'GET' && request.method !== 'HEAD' && !hasScope(scopes, 'operate')) {
      throw new MusterError('auth.forbidden', 'Your key may only read. A change needs a key with the scope "operate".');
    }
    next();
  };
}

function accessDenied(why: string): MusterError {
  return new MusterError(
    'auth.forbidden',
    `The board shows the tickets of all tenants. It needs a key of tenant "${DEFAULT_TENANT}" with the scope "admin"; ${why}.`,
  );
}

/** Records every change on the board with the person who made it. */
function recordActions(parts: BoardPorts): RequestHandler {
  const { log } = parts;
  return (request, response, next) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      const person = personOf(request);
      // What was routed changes the address while it runs.
      const path = request.path.replace(/^\/api\//, '');
      const counts = countsOf(response);
      response.once('finish', () => {
        const action = `${request.method} ${request.originalUrl}`;
        log.info({ event: 'board.action', keyId: person.id, action, status: response.statusCode }, 'An action on the board');
        void recordAudit({ ...parts, redis: parts.ledger.redis, settings: parts.ledger.settings }, person.tenant, {
          actor: actorOf(person),
          via: 'board',
          from: request.ip ?? null,
          ...describeAction(request.method, path, counts()),
          fields: [],
          outcome: response.statusCode < 400 || counts() !== null ? 'done' : response.statusCode < 500 ? 'refused' : 'failed',
          code: null,
        });
      });
    }
    next();
  };
}

/** What the answer counts, in words, once it was sent: `4505 cancelled, 2 skipped`. */
function countsOf(response: Response): () => string | null {
  let counts: string | null = null;
  const send = response.json.bind(response);
  response.json = (body: Readonly<Record<string, unknown>>) => {
    const found = Object.entries(body).filter(([, value]) => typeof value === 'number' && value > 0);
    if (typeof body['left'] === 'number') counts = found.map(([name, value]) => `${String(value)} ${name}`).join(', ') || 'none';
    return send(body);
  };
  return () => counts;
}

/**
 * The last word of an address of the board is what to do, the others are with what: `queues/tasks/empty`. Of a whole list the last word is its
 * state: `queues/tasks/clean/failed`.
 */
function describeAction(method: string, path: string, counts: string | null): Pick<AuditEntry, 'action' | 'object'> {
  const words = path.split('/').filter((word) => word !== '');
  const [, , verb = '', state] = words;
  const isList = words.length === 4 && LIST_VERBS.has(verb);
  const last = isList ? `${verb}All` : (words.at(-1) ?? method.toLowerCase());
  const place = isList ? [...words.slice(0, 2), state] : words.slice(0, -1);
  const object = place.join('/');
  return { action: `board${last.charAt(0).toUpperCase()}${last.slice(1)}`, object: counts === null ? object : `${object}: ${counts}` };
}

const LIST_VERBS = new Set(['retry', 'clean']);

/** Bull Board hides its actions per queue, not per person, so one board has actions and another has none. */
function showBoard({ ledger, queues, keys }: BoardPorts): RequestHandler {
  const options = { ledger, queues, shards: keys.shards, basePath: '/board' };
  const operatorBoard = createBoard({ ...options, isReadOnly: false });
  const readerBoard = createBoard({ ...options, isReadOnly: true });
  return (request, response, next) => {
    const board = hasScope(personOf(request).scopes, 'operate') ? operatorBoard : readerBoard;
    board(request, response, next);
  };
}

/** Answers a call of Bull Board's pages with a problem that also has the two fields they show to people. */
export function sendBoardError(log: Log): ErrorRequestHandler {
  return (thrown: unknown, request, response, next) => {
    if (!request.originalUrl.startsWith('/board/api/') || response.headersSent) {
      next(thrown);
      return;
    }
    const error = toMusterError(requestError(thrown));
    if (error.code === 'internal.error') logFailure(response, thrown, log);
    const problem = toProblem(error, request.originalUrl.split('?')[0]);
    response
      .status(problem.status)
      .type('application/problem+json')
      .send(JSON.stringify({ ...problem, error: problem.title, message: problem.detail }));
  };
}
