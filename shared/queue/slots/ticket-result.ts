/**
 * What the queue does with a ticket; the ledger moved the task itself before.
 *
 * - `done`: nothing more to do with it; the note shows on the board. `ended`: the lease of an attempt whose settlement is under way. `isLeft`: the
 *   attempt goes on at another hub, or will
 * - `failed`: the task failed for good; the board lists the ticket as failed
 * - `returned`: its task stands at `slot` again, for any worker. Costs no attempt
 */
export type TicketResult =
  | { kind: 'done'; note: string; ended?: string; isLeft?: true | undefined }
  | { kind: 'failed'; message: string }
  | { kind: 'returned' };

/** Whether the attempt goes on elsewhere. */
export function isLeft(result: TicketResult | null): boolean {
  return result?.kind === 'done' && result.isLeft === true;
}
