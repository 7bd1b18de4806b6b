import type { GuardedFetch } from '../agents/index.ts';
import type { EventFeed } from '../events/index.ts';
import type { Ledger } from '../ledger/index.ts';
import type { Log } from '../log/index.ts';
import type { Queues } from '../queue/index.ts';
import type { Clock } from '../time/index.ts';
import type { CallbackSlots } from './callbacks/deliver-callback.ts';
import type { ChatPort, TypingSigns } from './replies/chat-port.ts';
import type { WaitingRoom } from './waiting-room.ts';

/** What the deliveries of one process share. */
export interface DeliveryContext {
  readonly ledger: Ledger;
  readonly queues: Queues;
  readonly events: Pick<EventFeed, 'onTask'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly ports: ReadonlyMap<string, ChatPort>;
  readonly typing: TypingSigns;
  readonly fetch: GuardedFetch;
  readonly callbackSlots: CallbackSlots;
  readonly waitingRoom: WaitingRoom;
  /** Whether a delivery whose task only waits should leave its slot to others. */
  isCrowded(tenant: string): boolean;
}
