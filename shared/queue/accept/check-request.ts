import type { Settings } from '../../config/index.ts';
import { MusterError } from '../../errors/index.ts';
import type { Ledger } from '../../ledger/index.ts';
import { isDeeper } from '../../tasks/index.ts';
import { durationMs } from '../../time/index.ts';
import type { AcceptRequest, TextRequest } from './request.ts';

/** Redis parses a thousand levels of objects and lists, but agents receive a context level by level. */
const MAX_LEVELS = 100;

/** Thirty days: no batch takes as long, and a retry has time. */
const MAX_WITHIN_MS = 30 * 86_400_000;

/** Checks what the schema of a request cannot. Errors: `request.invalid`, `request.too-large`. */
export function checkRequest(request: TextRequest, { tasks, openai, modelBatches }: Settings): void {
  const { input, context, metadata, request: asked } = request;
  assertBytes('input', input, tasks.maxInputBytes);
  if (context || metadata) assertContext('context and metadata', [context, metadata], tasks.maxContextBytes);
  if (asked) assertContext('messages and tools', asked, openai.maxRequestBytes);
  assertStartBeforeDeadline(request);
  assertDeadlineAhead(request);
  assertTarget(request);
  assertWithin(request.within, modelBatches);
}

/** Throws `request.too-large` for a text of more than `maxBytes`; `field` is its name in the request. */
export function assertBytes(field: string, text: string, maxBytes: number): void {
  const bytes = Buffer.byteLength(text);
  if (bytes <= maxBytes) return;
  throw new MusterError('request.too-large', `${field}: expected at most ${maxBytes} bytes, got ${bytes}`, {
    details: { bytes, maxBytes },
  });
}

/** Throws `request.too-large` or `request.invalid` for JSON that a task cannot have beside its input. */
export function assertContext(field: string, value: unknown, maxBytes: number): void {
  assertLevels(field, value);
  assertBytes(field, JSON.stringify(value), maxBytes);
}

/** Throws `request.invalid` for JSON that is nested too deep. */
export function assertLevels(field: string, value: unknown): void {
  if (!isDeeper(value, MAX_LEVELS)) return;
  throw new MusterError('request.invalid', `${field}: expected at most ${MAX_LEVELS} levels of objects and lists in each other`, {
    details: { maxLevels: MAX_LEVELS },
  });
}

/** Throws `request.invalid` when a tenant asks for longer runs than it may have. */
export function assertTimeout(ledger: Ledger, tenant: string, field: string, timeoutMs: number | undefined): void {
  const maxMs = Math.min(ledger.settings.tasks.maxTimeoutMs, ledger.limitsOf(tenant)?.maxTimeoutMs ?? Infinity);
  if (timeoutMs === undefined || timeoutMs <= maxMs) return;
  throw new MusterError('request.invalid', `${field}: expected at most ${maxMs} ms, got ${timeoutMs}`, {
    details: { maxTimeoutMs: maxMs },
  });
}

function assertStartBeforeDeadline({ scheduledFor, deadline }: AcceptRequest): void {
  if (scheduledFor === undefined || deadline === undefined || Date.parse(scheduledFor) < Date.parse(deadline)) return;
  throw new MusterError('request.invalid', `scheduledFor: expected a time before the deadline ${deadline}, got ${scheduledFor}`, {
    details: { scheduledFor, deadline },
  });
}

function assertTarget({ requirements }: AcceptRequest): void {
  const target = requirements?.targetDaemon;
  if (target === undefined || requirements?.excludedDaemons?.includes(target) !== true) return;
  throw new MusterError(
    'request.invalid',
    `requirements: the target "${target}" is one of excludedDaemons, so that no daemon could run it`,
    {
      details: { targetDaemon: target },
    },
  );
}

/** Throws `request.invalid` for a `within` that no task may have. */
export function assertWithin(within: AcceptRequest['within'] | null, { minWithinMs: minMs }: Settings['modelBatches']): void {
  const ms = within == null ? minMs : durationMs(within);
  if (ms >= minMs && ms <= MAX_WITHIN_MS) return;
  throw new MusterError(
    'request.invalid',
    `within: expected a duration of ${minMs} ms (modelBatches.minWithinMs) to ${MAX_WITHIN_MS} ms, got "${within}"`,
    { details: { minWithinMs: minMs, maxWithinMs: MAX_WITHIN_MS } },
  );
}

function assertDeadlineAhead({ deadline }: AcceptRequest): void {
  if (deadline === undefined || Date.parse(deadline) > Date.now()) return;
  throw new MusterError('request.invalid', `deadline: expected a time to come, got ${deadline}`, { details: { deadline } });
}
