import { registerFactTests } from './pipeline-endpoint/facts';
import { registerMetadataTests } from './pipeline-endpoint/metadata';
import { registerOverlapTests } from './pipeline-endpoint/overlaps';
import { registerRepeatTests } from './pipeline-endpoint/repeats';
import { registerRequestTests } from './pipeline-endpoint/requests';
import { registerScoreTests } from './pipeline-endpoint/scores';
import { shareServers } from './pipeline-endpoint/two-servers';

shareServers();
registerRequestTests();
registerFactTests();
registerMetadataTests();
registerRepeatTests();
registerScoreTests();
registerOverlapTests();
