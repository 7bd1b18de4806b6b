/**
 * What a person who wrote is told at once.
 *
 * - `command`: a command's answer
 * - `refused`: why the message became no task
 * - `accepted`: the message became a task; `text` is the message
 */
export interface CommandAnswer {
  readonly kind: 'command' | 'refused' | 'accepted';
  readonly text: string;
}
