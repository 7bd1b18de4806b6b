/** Processes from start to end: opening what a service needs, starting services in order, and stopping them within the grace. */
export { describeStartFailure, endOnSignals, exitOnStartFailure } from './end-process.ts';
export { openDispatcher } from './open-dispatcher.ts';
export { openExecutor, openModelBatches } from './open-executor.ts';
export { type Parts, openParts } from './open-parts.ts';
export { type JobTaker, openSlotWorker } from './open-slot-worker.ts';
export { runService } from './run-service.ts';
export { type Service, createRouterService } from './service.ts';
export { startFleet } from './start-fleet.ts';
export { watchInstallation } from './watch-installation.ts';
