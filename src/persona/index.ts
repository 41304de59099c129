/**
 * Personas, instances, teams and their instructions: the client's side of NIP-AP.
 * in: src/model, src/nostr; the owner's key and a relay only as ports. out: formats as values, flows over the ports.
 * Never opens a socket, holds a key, or knows what time it is: whoever calls says.
 */
export { addressFilter, addressText, deletionOf, headAt, headsOf, identifierOf, nextStamp } from './address.ts';
export type { Address } from './address.ts';
export { CATALOG_MAX_BYTES, catalogMember, catalogTemplate, projectionHash, writeCatalog } from './catalog.ts';
export type { Catalog, CatalogMember, CatalogWriting } from './catalog.ts';
export { adoptTeam, readCatalog } from './catalog-reading.ts';
export type { Adoption, CatalogReading } from './catalog-reading.ts';
export { DEFINITION_MAX_BYTES, definitionHash, definitionMembers, definitionTemplate, plainDefinition, writeDefinition } from './definition.ts';
export type { Definition, DefinitionWriting, RespondTo, SessionPolicy } from './definition.ts';
export { readDefinition, readDefinitionBody, readForeignDefinition } from './definition-reading.ts';
export type { DefinitionReading, ReadDefinition } from './definition-reading.ts';
export { deleteTeam, deleteVersions } from './delete.ts';
export type { Patience, TeamDeletion } from './delete.ts';
export { currentVersion, historyPage } from './history.ts';
export type { HistoryPage } from './history.ts';
export { portOf } from './key.ts';
export type { SigningKey } from './key.ts';
export { instanceTemplate, readInstance, resolveModel } from './instance.ts';
export type { Instance, OwnFields } from './instance.ts';
export { OWNER_KINDS, PERSONA_KIND } from './kinds.ts';
export { composeLaunch, deliver } from './launch.ts';
export type { DefinitionHead, Delivery, LaunchFacts, LaunchRefusal, Layers, Override, TeamFacts } from './launch.ts';
export { launchFacts, ownFacts } from './launch-facts.ts';
export { linkOf, planLaunch } from './launch-plan.ts';
export type { LaunchOrder, LaunchPlan, LaunchPlanning } from './launch-plan.ts';
export { launchRecord, mergeSnapshot, personaSnapshot, SNAPSHOT_SLUG } from './launch-record.ts';
export type { Engram, Launch } from './launch-record.ts';
export { readAll } from './pages.ts';
export type { Cursor } from './pages.ts';
export type { OwnerKey, OwnerPorts, PersonaRelay, Publication, ReadingPorts } from './ports.ts';
export { deleteAt, publishAt } from './publish.ts';
export type { AddressOutcome } from './publish.ts';
export { writeRecords } from './record-keeper.ts';
export type { PendingRecords, RecordWriter } from './record-keeper.ts';
export { restoreVersion, saveVersion, sendAgain, templateText } from './save.ts';
export type { SaveOrder, SaveOutcome, TeamGuard } from './save.ts';
export { maskSecrets } from './secrets.ts';
export type { SecretWarning } from './secrets.ts';
export { freeSlug, isPersonaSlug, slugFrom } from './slug.ts';
export { readTeam, readTeams, teamGuard, teamsOf, writeTeam } from './team-book.ts';
export type { BookRefusal } from './team-book.ts';
export { readTeamEvent } from './team-event.ts';
export type { TeamEvent } from './team-event.ts';
export { asTeamId, newTeamId } from './team-id.ts';
export type { TeamId } from './team-id.ts';
export { saveTeamInstructions } from './team-instructions.ts';
export { readTeamRecord, teamRecordAddress, writeTeamRecord } from './team-record.ts';
export type { DeletedTeam, Team, TeamRecord } from './team-record.ts';
export { ownCommand } from './transport.ts';
export type { OwnHead } from './transport.ts';
export {
  readVersion, subjectFilter, textFault, VERSION_MAX_CONTENT_BYTES, VERSION_MAX_TEXT_BYTES, versionDeletion, versionPlaintext, versionTemplate,
} from './version.ts';
export type { Subject, Version, VersionFault } from './version.ts';
