import { z } from 'zod';
import type { TicketClaim } from '../../ledger/index.ts';
import type { TicketData, TicketResult } from '../../queue/index.ts';
import type { Subscription } from '../../redis/index.ts';
import { within, LATE } from '../../time/index.ts';
import type { DaemonPorts } from '../scripts.ts';

const ticketSchema = z.object({ tenant: z.string(), task: z.string(), lane: z.string().optional(), failed: z.string().optional() });
const resultSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('done'), note: z.string(), isLeft: z.literal(true).optional() }),
  z.object({ kind: z.literal('failed'), message: z.string() }),
  z.object({ kind: z.literal('returned') }),
]);
const call = { to: z.string(), call: z.string() };

/** What hubs publish to each other about tasks. `to`: the hub that it is for. */
const messageSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('offer'),
    ...call,
    from: z.string(),
    daemon: z.string(),
    ticket: ticketSchema,
    /** What its claim has to know. */
    how: z.record(z.string(), z.unknown()),
    /** Whether the ticket keeps its slot at that hub. */
    keepsSlot: z.boolean().default(true),
  }),
  z.object({ kind: z.literal('answer'), ...call, outcome: z.enum(['taken', 'full']) }),
  z.object({ kind: z.literal('ended'), ...call, result: resultSchema }),
  /** A daemon's attempt goes on at the hub `from`, which counts it: the ticket keeps no slot anywhere else. */
  z.object({ kind: z.literal('adopted'), tenant: z.string(), task: z.string(), from: z.string() }),
  /** A task of the tenant is held by what it needs: a hub whose daemons have room looks for it. */
  z.object({ kind: z.literal('held'), tenant: z.string(), from: z.string(), what: z.string().nullable().default(null) }),
]);
type HubMessage = z.infer<typeof messageSchema>;

/** Opens a subscription whose connection shows under this name. */
export type Subscribe = (name: string, channels: readonly string[], onMessage: (message: string) => void) => Subscription;

export interface HubLinkOptions extends DaemonPorts {
  /** This hub's name. */
  hub: string;
  subscribe: Subscribe;
  /** How long another hub may take to answer an offer, ms. */
  offerMs: number;
  /** Runs a task that another hub offers to a daemon of this one; null when it has no room. */
  take: (offer: Offer & { from: string }) => Promise<TicketResult> | null;
  /** Another hub has adopted an attempt. */
  onAdopted: (attempt: Pick<TicketData, 'tenant' | 'task'>) => void;
  /** Another hub held a task of this tenant; null where it did not say by what. */
  onHeld: (tenant: string, what: string | null) => void;
}

/** A task that one hub offers to a daemon of another. */
interface Offer {
  daemon: string;
  ticket: TicketData;
  how: TicketClaim;
  /** Whether the ticket keeps its slot at the hub that offers it. */
  keepsSlot: boolean;
}

/**
 * `taken`: its end follows, unless that hub dies or its message is lost; then `forget` says that nobody waits for it. `full`: no room there.
 * `silent`: that hub does not answer.
 */
type OfferAnswer = { outcome: 'taken'; ended: Promise<TicketResult>; forget: () => void } | { outcome: 'full' | 'silent' };

interface OpenCall {
  answered: PromiseWithResolvers<'taken' | 'full'>;
  ended: PromiseWithResolvers<TicketResult>;
}

/** HubLink is responsible for tasks that one hub takes from the queue and whose daemon is connected to another. Messages may be lost. */
export class HubLink {
  readonly #options: HubLinkOptions;
  readonly #calls = new Map<string, OpenCall>();
  #subscription: Subscription | undefined;

  constructor(options: HubLinkOptions) {
    this.#options = options;
  }

  start(): void {
    const { keys, subscribe } = this.#options;
    this.#subscription = subscribe('hubs', [keys.fleet.hubSignal], (text) => this.#receive(text));
    this.#subscription.start();
  }

  stop(): void {
    this.#subscription?.close();
  }

  /** Why it receives nothing, in words; else null. */
  get problem(): string | null {
    return this.#subscription?.problem ?? null;
  }

  /** Offers whose end is waited for. */
  get open(): number {
    return this.#calls.size;
  }

  /** Offers a task to a daemon of another hub. */
  async offer(to: string, { how, ...offer }: Offer): Promise<OfferAnswer> {
    const { hub, offerMs } = this.#options;
    const id = crypto.randomUUID();
    const open: OpenCall = { answered: Promise.withResolvers(), ended: Promise.withResolvers() };
    this.#calls.set(id, open);
    await this.#publish({ kind: 'offer', to, from: hub, call: id, ...offer, how: { ...how } });
    const outcome = await within(open.answered.promise, offerMs);
    const forget = (): void => void this.#calls.delete(id);
    if (outcome === 'taken') return { outcome, ended: open.ended.promise, forget };
    forget();
    return { outcome: outcome === LATE ? 'silent' : 'full' };
  }

  /** Publishes to other hubs that a task of a tenant is held now. */
  async publishHeld(tenant: string, what: string): Promise<void> {
    await this.#publish({ kind: 'held', tenant, from: this.#options.hub, what });
  }

  /** Publishes to other hubs that this one has adopted an attempt. */
  async publishAdopted({ tenant, task }: Pick<TicketData, 'tenant' | 'task'>): Promise<void> {
    await this.#publish({ kind: 'adopted', tenant, task, from: this.#options.hub });
  }

  #receive(text: string): void {
    const message = readMessage(text);
    if (message === null) return;
    const { hub } = this.#options;
    if (!('to' in message)) {
      if (message.from !== hub) this.#receiveNote(message);
      return;
    }
    if (message.to !== hub) return;
    if (message.kind === 'offer') void this.#answer(message);
    else if (message.kind === 'answer') this.#calls.get(message.call)?.answered.resolve(message.outcome);
    else this.#calls.get(message.call)?.ended.resolve(message.result);
  }

  #receiveNote(message: Extract<HubMessage, { kind: 'held' | 'adopted' }>): void {
    const { onHeld, onAdopted } = this.#options;
    if (message.kind === 'held') onHeld(message.tenant, message.what);
    else onAdopted(message);
  }

  async #answer({ call: id, ticket: data, ...offer }: Extract<HubMessage, { kind: 'offer' }>): Promise<void> {
    const { from } = offer;
    const { tenant, task, lane, failed } = data;
    const ticket = { tenant, task, ...(lane === undefined ? {} : { lane }), ...(failed === undefined ? {} : { failed }) };
    const running = this.#options.take({ ...offer, ticket })?.catch(failedBy);
    await this.#publish({ kind: 'answer', to: from, call: id, outcome: running ? 'taken' : 'full' });
    if (running) await this.#publish({ kind: 'ended', to: from, call: id, result: await running });
  }

  async #publish(message: HubMessage): Promise<void> {
    const { redis, keys } = this.#options;
    // The other side polls, or its wait ends.
    await redis.publish(keys.fleet.hubSignal, JSON.stringify(message)).catch(() => 0);
  }
}

/** A mistake of ours fails the ticket, as it does where its own hub runs it, and ends no process. */
function failedBy(error: unknown): TicketResult {
  return { kind: 'failed', message: error instanceof Error ? error.message : String(error) };
}

function readMessage(text: string): HubMessage | null {
  try {
    return messageSchema.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}
