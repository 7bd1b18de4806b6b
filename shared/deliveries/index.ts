/** Results on their way out: chat replies and callbacks as records with tries of their own, apart from the task. */
export { endpointView, endpointViewSchema, forgetFailures, listEndpoints } from './callback-endpoints.ts';
export { type CallbackSecrets, readCallbackSecrets, rotateCallbackSecret } from './callback-secrets.ts';
export { type ChatPort, DeliveryRefused, type RefusalKind } from './chat-port.ts';
export { DeliveryService } from './delivery-service.ts';
export { readAllDeliveries } from './delivery-store.ts';
export {
  DELIVERY_ID,
  DELIVERY_KINDS,
  DELIVERY_STATUSES,
  type Delivery,
  deliveryId,
  deliverySchema,
  deliveryView,
  deliveryViewSchema,
} from './delivery.ts';
export { listDeliveries } from './list-deliveries.ts';
export { readUnfollowedEnds, readWaitingDeliveries } from './outbound-backlog.ts';
export { outboundMetrics } from './outbound-metrics.ts';
export { OutputReader } from './output-reader.ts';
export { retryDelivery } from './retry-delivery.ts';
export { startReply } from './start-reply.ts';
