import { hash } from 'node:crypto';
import type { AgentDefinition } from '../../config/index.ts';
import type { FileStore } from '../../files/index.ts';
import type { Ledger, MessageArrival } from '../../ledger/index.ts';
import type { Log } from '../../log/index.ts';
import { canonicalJson, type ModelRequest, type ReplyAddress, type TaskBody, type TaskRequest, type Trigger } from '../../tasks/index.ts';
import type { Queues } from '../queues.ts';
import type { TicketRelay } from '../tickets/ticket-relay.ts';

/** What accepting a task needs. */
export interface Intake {
  readonly ledger: Ledger;
  readonly relay: TicketRelay;
  readonly queues: Queues;
  readonly log: Log;
  /** The agent of this name in the tenant's catalog, or null. */
  findAgent(tenant: string, id: string): Promise<AgentDefinition | null>;
  /** Where uploads are. Without it a request with one is refused. */
  readonly files?: Pick<FileStore, 'bind' | 'find' | 'settings'>;
  /** Throws what refuses a task because money is used up. Without it none is refused so. */
  assertBudgets?(task: Pick<TaskBody, 'tenant' | 'agent' | 'keyId' | 'scheduleId' | 'trigger'>): Promise<void>;
}

/** What a producer asks for. */
export interface AcceptRequest extends TaskRequest {
  tenant: string;
  /** Its id, for a producer that stored it before; the same id again makes no second task. */
  id?: string;
  idempotencyKey?: string;
  /** What is compared when the key comes again; by default the complete request. */
  idempotencyBody?: string;
  scheduleId?: string;
  /** Id of the API key that the request came with. */
  keyId?: string;
  /** Whether its caller waits for its end. */
  isAwaited?: boolean;
  /** Whether the run of its parent waits for its end. */
  parentWaits?: true;
  /** What made it, when that was no person's request. */
  trigger?: Trigger;
  /** Who wrote the message, by the surface's own id. */
  user?: string;
  /** Whether that is only what the caller of the API said. */
  isUserClaimed?: true;
  /** The visitor who wrote it, by the id of their token. */
  visitor?: string;
  /** Whether its words may give no orders; by default those of a webhook and of a visitor. */
  untrusted?: boolean;
  /** What it has besides, in OpenAI's protocol. */
  request?: ModelRequest;
  /** Where the answer goes in a chat. */
  reply?: ReplyAddress;
  /** Its number among the messages of its platform, which orders them in their lane; others are ordered by arrival. */
  order?: number;
  /** How a chat's message came. */
  arrival?: MessageArrival | undefined;
  /** Its own lane, in place of its session's. */
  lane?: { name: string; limit: number };
  /** Why it is not to run: it is accepted straight into `skipped`. */
  skip?: { reason: string };
  /** W3C trace context of the caller. */
  traceparent?: string;
}

/** A request whose input is the text that its task stores. */
export interface TextRequest extends AcceptRequest {
  input: string;
}

/** Identifies a request that comes again under its key. */
export function digestOf({ idempotencyBody, ...request }: AcceptRequest): string {
  // The trace differs from call to call, and a key may be replaced by another, and a caller may wait or not: they are no part of the request.
  const body = idempotencyBody ?? canonicalJson({ ...request, keyId: undefined, isAwaited: undefined, traceparent: undefined });
  return hash('sha256', body, 'base64url');
}
