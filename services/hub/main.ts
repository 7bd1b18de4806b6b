import { runService } from '#shared/lifecycle/index.ts';
import { createHubService } from './create-hub-service.ts';

await runService('hub', createHubService);
