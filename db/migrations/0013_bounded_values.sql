-- What visitors can invent is bounded now. Rows from before get the values that the service would store today.
-- No fold may run meanwhile (server/domain/rollups.ts): it would move counts of names that go away.
SELECT pg_advisory_xact_lock(hashtext('fold-session-deltas'));
--> statement-breakpoint
CREATE TEMPORARY TABLE "known_browsers" ON COMMIT DROP AS SELECT unnest(ARRAY[
    'Amazon Silk', 'AmazonBot', 'Android Browser', 'Bada', 'BaiduSpider', 'BingCrawler', 'BlackBerry', 'Bot', 'Brave',
    'ChatGPT-User', 'Chrome', 'Chromium', 'ClaudeBot', 'Diffbot', 'DuckDuckBot', 'DuckDuckGo', 'Electron', 'Epiphany',
    'FacebookExternalHit', 'Firefox', 'Focus', 'GPTBot', 'Google Search', 'Googlebot', 'HeyTap Browser', 'Internet Explorer',
    'InternetArchiveCrawler', 'K-Meleon', 'Ladybird', 'LibreWolf', 'Linespider', 'MZ Browser', 'Maxthon', 'Meta-ExternalAds',
    'Meta-ExternalAgent', 'Meta-ExternalFetcher', 'Meta-WebIndexer', 'Microsoft Edge', 'Miui', 'NAVER Whale Browser',
    'OAI-SearchBot', 'Omgilibot', 'Opera', 'Opera Coast', 'Opera Touch', 'Other', 'Pale Moon', 'Perplexity-User', 'PerplexityBot',
    'PhantomJS', 'PingdomBot', 'PlayStation 4', 'Puffin', 'QQ Browser', 'QQ Browser Lite', 'QupZilla', 'Roku', 'Safari', 'Sailfish',
    'Samsung Internet for Android', 'SeaMonkey', 'SlackBot', 'Sleipnir', 'SlimerJS', 'Sogou Browser', 'Swing', 'Tizen', 'UC Browser',
    'Unknown', 'Vivaldi', 'Vivo Browser', 'WeChat', 'WebOS Browser', 'YahooSlurp', 'Yandex Browser', 'YandexBot', 'YouBot'
]) AS name;
--> statement-breakpoint
-- The trigger would count every change of a name as a change of a session.
ALTER TABLE "sessions" DISABLE TRIGGER "sessions_updated";
--> statement-breakpoint
UPDATE sessions
   SET browser = CASE WHEN browser IN (SELECT name FROM known_browsers) THEN browser ELSE 'Other' END,
       user_agent_summary = left(user_agent_summary, 128), page_url = left(page_url, 2048)
 WHERE browser NOT IN (SELECT name FROM known_browsers) OR length(user_agent_summary) > 128 OR length(page_url) > 2048;
--> statement-breakpoint
ALTER TABLE "sessions" ENABLE TRIGGER "sessions_updated";
--> statement-breakpoint
UPDATE session_deltas SET browser = 'Other' WHERE browser NOT IN (SELECT name FROM known_browsers);
--> statement-breakpoint
-- Browsers are counted in the first element alone.
WITH unknown AS (
  DELETE FROM dimension_rollups WHERE dimension = 'browser' AND value NOT IN (SELECT name FROM known_browsers)
  RETURNING integration_id, grain, start, sessions[1] AS sessions)
INSERT INTO dimension_rollups (integration_id, grain, start, dimension, value, sessions)
SELECT integration_id, grain, start, 'browser', 'Other', ARRAY[sum(sessions)::int] FROM unknown GROUP BY integration_id, grain, start
    ON CONFLICT (integration_id, grain, start, dimension, value)
    DO UPDATE SET sessions = ARRAY[dimension_rollups.sessions[1] + excluded.sessions[1]];
--> statement-breakpoint
-- Postgres writes JSON with spaces, so only what is longer than this is certainly over the 16 KiB that a fact may have.
UPDATE session_events
   SET url = left(url, 2048),
       metadata = CASE WHEN octet_length(metadata::text) > 24576 THEN jsonb_build_object('omittedBytes', octet_length(metadata::text)) ELSE metadata END
 WHERE length(url) > 2048 OR octet_length(metadata::text) > 24576;
--> statement-breakpoint
UPDATE anomalies SET metadata = jsonb_build_object('omittedBytes', octet_length(metadata::text)) WHERE octet_length(metadata::text) > 24576;
--> statement-breakpoint
UPDATE courses SET name = left(name, 519), code = left(code, 512) WHERE length(name) > 519 OR length(code) > 512;
