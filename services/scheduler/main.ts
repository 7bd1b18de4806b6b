import { runService } from '#shared/lifecycle/run-service.ts';
import { createSchedulerService } from './create-scheduler-service.ts';

await runService('scheduler', createSchedulerService);
