import { runService } from '#shared/lifecycle/run-service.ts';
import { createApiService } from './create-api-service.ts';

await runService('api', createApiService);
