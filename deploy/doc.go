// Package deploy holds what docker-compose.yml mounts. There is no code in it
// but the test that checks the compose file.
package deploy
