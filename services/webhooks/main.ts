import { runService } from '#shared/lifecycle/index.ts';
import { createWebhooksService } from './create-webhooks-service.ts';

await runService('webhooks', createWebhooksService);
