import { runService } from '#shared/lifecycle/run-service.ts';
import { createChatService } from './create-chat-service.ts';

await runService('chat', createChatService);
