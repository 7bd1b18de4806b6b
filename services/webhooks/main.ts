import { runService } from '#shared/lifecycle/run-service.ts';
import { createWebhooksService } from './create-webhooks-service.ts';

await runService('webhooks', createWebhooksService);
