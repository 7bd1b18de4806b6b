import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { createMcpTools } from './mcp-tools.ts';

process.stdout.write('a word that is no message\n');
serveStdio(() => createMcpTools());
