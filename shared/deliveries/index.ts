/** Results on their way out: chat replies and callbacks as records with tries of their own, apart from the task. */
export { endpointView, endpointViewSchema, forgetFailures, listEndpoints } from './callbacks/callback-records.ts';
export { type CallbackSecrets, readCallbackSecrets, rotateCallbackSecret } from './callbacks/callback-secrets.ts';
export { listDeliveries } from './delivery-lookups.ts';
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
export { openQuestion, openReply, retryDelivery } from './open-delivery.ts';
export { outboundMetrics, readUnfollowedEnds, readWaitingDeliveries } from './outbound-backlog.ts';
export { type ChatPort, type ChatQuestion, DeliveryRefused, type OutgoingFile, type RefusalKind } from './replies/chat-port.ts';
export { OutputReader } from './replies/reply-text.ts';
export { splitText } from './replies/split-text.ts';
export { noteRefusal, readRefusals } from './refused-platforms.ts';
