/** Processes from start to end: opening what a service needs, starting services in order, and stopping them within the grace. */
export { createRouterService } from './service.ts';
export { endOnSignals } from './end-on-signals.ts';
export { exitOnStartFailure } from './start-failure.ts';
export { type Parts, openParts } from './open-parts.ts';
export { runService } from './run-service.ts';
export type { Service } from './service.ts';
export { startFleet } from './start-fleet.ts';
