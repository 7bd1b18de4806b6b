import { runService } from '#shared/lifecycle/run-service.ts';
import { createWorkerService } from './create-worker-service.ts';

await runService('worker', createWorkerService);
