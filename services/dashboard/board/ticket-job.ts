import type { TicketQueue } from '#shared/queue/index.ts';

/** A ticket as BullMQ hands it out. */
export type TicketJob = NonNullable<Awaited<ReturnType<TicketQueue['getJob']>>>;
