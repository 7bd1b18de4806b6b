import { runService } from '#shared/lifecycle/index.ts';
import { createSchedulerService } from './create-scheduler-service.ts';

await runService('scheduler', createSchedulerService);
