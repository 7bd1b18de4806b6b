/**
 * Daemons: executors on people's own machines. The messages that they exchange with a hub over a WebSocket, with their bounds.
 */
export {
  CLOSE_CODES,
  type DaemonMessage,
  type DaemonMessageToSend,
  type HubMessage,
  type HubMessageToSend,
  parseDaemonMessage,
  parseHubMessage,
  PROTOCOL,
  protocolSchema,
} from './protocol.ts';
