/**
 * A producer for programs that have the fleet's Redis, such as those that add jobs to BullMQ today: `import { createProducer } from
 * 'muster-fleet/producer'`. It accepts tasks as the API does, with the same checks, and without HTTP in between.
 */
export { createProducer, type Producer, type ProducerOptions } from './create-producer.ts';
export type { AcceptedTask, TaskItem, TaskOptions } from './accept-item.ts';
