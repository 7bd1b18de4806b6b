import { runService } from '#shared/lifecycle/index.ts';
import { createWorkerService } from './create-worker-service.ts';

await runService('worker', createWorkerService);
