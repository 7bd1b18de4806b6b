import { runService } from '#shared/lifecycle/index.ts';
import { createChatService } from './create-chat-service.ts';

await runService('chat', createChatService);
