/**
 * What becomes of a message that meets work of its session.
 *
 * - `queue`: goes into the running task if its agent takes input and nothing waits before it, else waits
 * - `steer`: goes into the running task if its agent takes input, also past what waits, else waits
 * - `interrupt`: aborts the running task and replaces what waits
 * - `collect`: waits, and becomes one turn together with what else waits
 * - `latest`: replaces what waits
 * - `reject`: is refused
 */
export const QUEUE_MODES = ['queue', 'interrupt', 'collect', 'steer', 'latest', 'reject'] as const;
export type QueueMode = (typeof QUEUE_MODES)[number];
