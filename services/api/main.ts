import { runService } from '#shared/lifecycle/index.ts';
import { createApiService } from './create-api-service.ts';

await runService('api', createApiService);
